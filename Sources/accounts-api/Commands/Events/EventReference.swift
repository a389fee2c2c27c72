import Accounts
import ArgumentParser

/// An event given as an argument: by its id, or by at least six of its first digits.
struct EventReference: ExpressibleByArgument, Sendable {
    let text: String
    let prefix: IDPrefix<AccountEvent>

    init?(argument: String) {
        guard let prefix = IDPrefix<AccountEvent>(argument) else { return nil }
        (text, self.prefix) = (argument, prefix)
    }
}
