import Accounts
import ArgumentParser

struct DraftCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drafts",
        abstract: "Shows, ends and extends unfinished sign-ups.",
        subcommands: [List.self, Show.self, Why.self, Board.self, Expire.self, Purge.self, Extend.self, Funnel.self]
    )
}

extension DraftState: ExpressibleByArgument {}

extension DraftFilter {
    /// An address is looked for in its canonical form.
    init(state: DraftState? = nil, step: String? = nil, olderThan: Period?, email: String?) throws {
        self.init(state: state, step: step, olderThan: olderThan?.duration, email: try email.map(canonicalAddress))
    }
}

/// The form in which an address is stored.
func canonicalAddress(_ text: String) throws -> String {
    guard let address = EmailAddress(text) else { throw ValidationError("\(text.printable) is no address") }
    return address.rawValue
}

extension Operator {
    /// Says where this command judges a draft otherwise than the servers did.
    func warn(of draft: Draft) {
        guard draft.account == nil, draft.flow != flow.id else { return }
        complain("the draft was judged by the flow \(draft.flow), and is by \(flow.id) here: see FLOW_FILE")
    }

    /// The draft of that id, or a word on why there is none.
    func existing(_ id: ID<Draft>) async throws -> Draft {
        do throws(FindError) {
            if let draft = try await draft(id) {
                return draft
            }
        } catch {
            switch error {
            case .database(let error): throw error
            case .unreadable:
                throw NotFound(description: "draft \(id) is sealed with a key that is not in ACCOUNTS_KEYS")
            case .ended, .unknown: throw NotFound(description: "draft \(id) has ended")
            }
        }
        throw NotFound(description: "there is no draft \(id)")
    }
}
