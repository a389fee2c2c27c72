import Accounts
import ArgumentParser

/// An argument that names an event: its id, or at least the first six digits of its id.
struct EventReference: ExpressibleByArgument, Sendable {
    let text: String
    let prefix: IDPrefix<AccountEvent>

    init?(argument: String) {
        guard let prefix = IDPrefix<AccountEvent>(argument) else { return nil }
        (text, self.prefix) = (argument, prefix)
    }
}
