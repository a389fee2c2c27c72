import Accounts
import ArgumentParser

struct DraftCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drafts",
        abstract: "Lists, shows, extends and deletes drafts: sign-ups, recoveries and changes of an address.",
        subcommands: [List.self, Show.self, Why.self, Board.self, Expire.self, Purge.self, Extend.self, Funnel.self]
    )

    /// Returns the values of `--step` for the completion in a shell: the steps of the flow that the words of the
    /// command line or the environment name. Empty if its file is invalid.
    static func steps(in words: [String], at index: Int, after prefix: String) -> [String] {
        let flag = words.firstIndex(of: "--flow-file").map { words[words.index(after: $0)...] }
        let flow = try? SettingSource([\.flow: flag?.first]).read(\.flow)
        return flow?.draftSteps ?? []
    }
}

extension DraftState: ExpressibleByArgument {}

extension DraftFilter {
    init(
        state: DraftState?,
        step: String?,
        since: DurationArgument? = nil,
        olderThan: DurationArgument?,
        idle: DurationArgument? = nil,
        email: String?
    ) throws {
        self.init(
            state: state,
            step: step,
            since: since?.duration,
            olderThan: olderThan?.duration,
            idle: idle?.duration,
            email: try email.map(emailAddress)
        )
    }
}

func emailAddress(_ text: String) throws -> EmailAddress {
    guard let address = EmailAddress(text) else {
        throw ValidationError("invalid e-mail address \"\(text.printable)\"")
    }
    return address
}

extension Operator {
    /// Throws if the flow of this command has no step with that name, and no draft is at such a step. Nil is accepted.
    func check(step: String?) async throws {
        guard let step, !flow.draftSteps.contains(step), try await !hasDrafts(at: step) else { return }
        let known = flow.draftSteps.joined(separator: ", ")
        throw ValidationError("unknown step \"\(step.printable)\": the flow \(flow.id) has \(known)")
    }

    /// Writes a warning if the latest change to the draft was made under another flow than that of this command. Does
    /// nothing for a committed draft.
    func warn(of draft: Draft, asJSON: Bool) {
        guard draft.account == nil, draft.flow != flow.id else { return }
        printWarning(
            "this draft was last changed under the flow \(draft.flow), but this command uses \(flow.id): "
                + "unless the flow has changed since, FLOW_FILE is not the flow file of the servers",
            asJSON: asJSON
        )
    }

    /// Returns the draft with this id. Throws ``NotFound`` with the reason if there is no such draft, or if the draft
    /// has ended or cannot be decrypted.
    func existing(_ id: ID<Draft>) async throws -> Draft {
        do throws(FindError) {
            if let draft = try await draft(id) {
                return draft
            }
        } catch {
            switch error {
            case .database(let error): throw error
            case .unreadable:
                throw NotFound(
                    description: "cannot decrypt draft \(id): add the key that encrypted it to ACCOUNTS_KEYS"
                )
            case .ended, .unknown: throw NotFound(description: "draft \(id) has ended")
            }
        }
        throw NotFound(description: "no draft \(id)")
    }
}
