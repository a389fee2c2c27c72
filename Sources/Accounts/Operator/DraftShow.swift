internal import Foundation

/// What keeps a draft from its commit.
package struct Obstacle: Sendable {
    package let step: StepName
    /// Nil where the step as a whole is meant.
    package let field: FieldName?
    package let reason: Reason

    package enum Reason: Sendable {
        /// Nothing was given.
        case missing
        /// Nothing has to be given, but the step was not answered yet.
        case notAnswered
        /// What was given does not hold, or not any more.
        case refused([Refusal])
        /// No code is on its way.
        case noCode
        /// A code is on its way, and was not given yet.
        case codeNotGiven
        case codeExpired
        /// Its attempts are used up; another has to be asked for.
        case codeUsedUp
        /// There were too many wrong codes for any other: only another sign-up helps.
        case exhausted
        /// Another account has it.
        case taken
    }
}

extension Operator {
    /// The draft of that id, open or committed; nil where there is none. One that has expired throws `ended`.
    package func draft(_ id: ID<Draft>) async throws(FindError) -> Draft? {
        let tokenHash: [UInt8]?
        do throws(DatabaseError) {
            tokenHash = try await database.read("SELECT token_hash FROM drafts WHERE id = \(id)").first?
                .decode([UInt8].self)
        } catch {
            throw .database(error)
        }
        guard let tokenHash else { return nil }
        return try await signups.find(id, tokenHash: tokenHash)
    }

    package func standing(of draft: Draft) -> Standing { signups.standing(of: draft) }

    package var flow: Flow { signups.flow }

    /// Everything that keeps the draft from its commit, in the order of the steps; empty where nothing does.
    package func obstacles(of draft: Draft) async throws(DatabaseError) -> [Obstacle] {
        let situation = signups.situation(of: draft)
        var obstacles: [Obstacle] = []
        for step in flow.steps {
            let asksForNothing = !step.isOptional && !step.fields.contains(where: \.isRequired)
            if asksForNothing, !draft.values.answered.contains(step.name) {
                obstacles.append(Obstacle(step: step.name, field: nil, reason: .notAnswered))
            }
            for field in step.fields {
                if let reason = Self.reason(field, in: situation, of: step) {
                    obstacles.append(Obstacle(step: step.name, field: field.name, reason: reason))
                } else if try await isTaken(field, by: draft) {
                    obstacles.append(Obstacle(step: step.name, field: field.name, reason: .taken))
                }
            }
        }
        return obstacles
    }

    private static func reason(_ field: Field, in situation: Situation, of step: Step) -> Obstacle.Reason? {
        let stored = situation.values[field.name]
        if field.kind.holds(stored, of: field.name, in: situation) { return nil }
        if let reason = field.kind.obstacle(field, in: situation) { return reason }
        guard let stored else { return field.isRequired && !step.isOptional ? .missing : nil }
        do throws(Refusals) {
            _ = try field.kind.canonical(stored, of: field.name, in: situation)
            return .refused([])
        } catch {
            return .refused(error.all)
        }
    }

    private func isTaken(_ field: Field, by draft: Draft) async throws(DatabaseError) -> Bool {
        guard field.isIdentifier, let value = draft.values[field.name]?.string else { return false }
        let kind = type(of: field.kind).name
        return try await !database.read("SELECT 1 FROM identifiers WHERE kind = \(kind) AND value = \(value)").isEmpty
    }
}
