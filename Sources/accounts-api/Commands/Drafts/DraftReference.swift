import Accounts
import ArgumentParser

/// An argument that names a draft.
struct DraftReference: ExpressibleByArgument, Sendable {
    static let help: ArgumentHelp = "The draft's id or its first digits, its e-mail address or its username."

    private let name: IDOrName<Draft>

    init?(argument: String) { name = IDOrName(argument) }

    var text: String { name.text }
    var isSearch: Bool { name.isSearch }

    /// Whether ``find(by:)`` may need the keys, because it may search by an address or a username.
    var needsKeys: Bool { name.id == nil }

    /// Returns the id of the draft. Does not search for a complete id, so a draft with that id need not exist. For any
    /// other text, throws ``NotFound`` if there is no such draft, and ``Refused`` if there are several. A search by an
    /// address or a username finds only drafts that are neither committed nor expired.
    func find(by admin: Operator) async throws -> ID<Draft> {
        try await name.find(by: admin, "drafts", matching: admin.idsBeginning(with:)) { identifier in
            try admin.checkKeys()
            let drafts = try await admin.drafts(identifier)
            guard let newest = drafts.first else {
                throw NotFound(description: "no open draft with the id, address or username \"\(text.printable)\"")
            }
            if drafts.count > 1 {
                let ids = drafts.prefix(5).map { "\n  \($0)" }.joined() + (drafts.count > 5 ? "\n  …" : "")
                throw Refused(
                    description: "\(drafts.count) open drafts have this address; pass the id of one:\(ids)"
                )
            }
            return newest
        }
    }
}
