import Accounts
import ArgumentParser

/// An argument that names a mail: its id, or the first digits of its id.
struct MailReference: ExpressibleByArgument, Sendable {
    static let help: ArgumentHelp = "The mail's id or its first digits."

    let text: String
    private let prefix: IDPrefix<Outbox>

    init?(argument: String) {
        guard let prefix = IDPrefix<Outbox>(argument) else { return nil }
        (text, self.prefix) = (argument, prefix)
    }

    /// Throws ``NotFound`` if there is no such mail, and ``Refused`` if several ids begin with the digits.
    func find(by admin: Operator) async throws -> ID<Outbox> {
        let (count, first) = try await admin.idsBeginning(with: prefix)
        if count > 1 { throw Refused.ambiguous(text, count, "mails") }
        guard let first else { throw notFound }
        return first
    }

    var notFound: NotFound { NotFound(description: "no mail with the id \"\(text.printable)\"") }
}
