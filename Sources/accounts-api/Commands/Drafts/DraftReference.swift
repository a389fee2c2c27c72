import Accounts
import ArgumentParser

/// An argument that names a draft: its id, the first digits of its id, its address or its username.
struct DraftReference: ExpressibleByArgument, Sendable {
    static let help: ArgumentHelp = "The draft's id or its first digits, its e-mail address or its username."

    let text: String
    private let id: ID<Draft>?
    private let prefix: IDPrefix<Draft>?

    init?(argument: String) {
        text = argument
        id = ID(argument)
        prefix = IDPrefix(argument)
    }

    /// Whether ``find(by:)`` always writes an audit record, because the text can only be an address or a username. For
    /// the first digits of an id, it writes one only if no id begins with them.
    var isSearch: Bool { id == nil && prefix == nil }

    /// Whether ``find(by:)`` may need the keys, to search by an address or a username.
    var needsKeys: Bool { id == nil }

    /// Throws ``NotFound`` if there is no such draft, and ``Refused`` if there are several.
    func find(by worker: Operator) async throws -> ID<Draft> {
        if let id { return id }
        if let prefix {
            let (count, first) = try await worker.drafts(prefix)
            if count > 1 { throw Refused.ambiguous(text, count, "drafts") }
            if let first { return first }
        }
        // A username may look like the first digits of an id. This search writes an audit record.
        try worker.checkName()
        let drafts = try await worker.drafts(
            SignInIdentifier(text.contains("@") ? try emailAddress(text).rawValue : text)
        )
        guard let newest = drafts.first else {
            throw NotFound(description: "no open draft with the id, address or username \"\(text.printable)\"")
        }
        if drafts.count > 1 {
            let ids = drafts.prefix(5).map { "\n  \($0)" }.joined() + (drafts.count > 5 ? "\n  …" : "")
            throw Refused(description: "\(drafts.count) open drafts have this address, pass an id:\(ids)")
        }
        return newest
    }
}
