package import Foundation

/// A reason why a draft cannot be committed.
package struct Obstacle: Sendable {
    package let step: StepName
    /// Nil for ``Reason/notAnswered`` and ``Reason/sealed``, which are about the whole step or draft.
    package let field: FieldName?
    package let reason: Reason

    package enum Reason: Sendable {
        /// The required field has no value.
        case missing
        /// The step is not optional and has no required fields. It must be submitted once, even without answers.
        case notAnswered
        /// The rules refuse the value now.
        case refused([Refusal])
        /// No code was mailed to the current address.
        case noCode
        /// The mailed code was not entered yet.
        case codeNotGiven
        /// The mail with the code waits for its first attempt. It is sent even if the code has expired.
        case codeWaiting(isExpired: Bool)
        /// No attempt to deliver the mail with the code has succeeded, and another follows, even if the code has
        /// expired. `failure` says why the previous attempt has failed. `isReply` is true if `failure` is a reply of
        /// the mail server.
        case codePostponed(failure: String, isReply: Bool, isExpired: Bool, nextAttempt: Date, now: Date)
        /// The service has given up the mail with the code, or will do so at the next attempt, which comes too late.
        /// The person must correct the address or request a new code.
        case codeRefused(failure: String, isReply: Bool)
        case codeExpired
        /// All attempts at this code are used; the person must request a new one.
        case codeUsedUp
        /// Too many wrong codes: the draft gets no further code, and the person must start again with a new draft.
        case exhausted
        /// An account has this identifier, or has left it and can still restore it. In a change of address, it may be
        /// the account whose address the draft changes.
        case taken
        /// The command has no keys to decrypt the values of the draft, so there may be further obstacles.
        case sealed
    }
}

extension Operator {
    /// Returns the draft with that id, committed or not, even if its account was erased; nil if there is no such draft.
    /// If the operator has no keys, a draft that is not committed is sealed (``Draft/isSealed``). Throws `ended` if the
    /// draft has expired or, for a committed draft, if its token has expired; throws `unreadable` if no key decrypts
    /// the values of the draft.
    package func draft(_ id: ID<Draft>) async throws(FindError) -> Draft? {
        let row = try await converting(to: FindError.database) { () throws(DatabaseError) in
            try await database.read("SELECT token_hash, flow FROM drafts WHERE id = \(id)").first?
                .decode([UInt8].self, String.self)
        }
        guard let (tokenHash, flowID) = row else { return nil }
        return try await following(flowID).signups.findEvenIfErased(id, tokenHash: tokenHash)
    }

    /// A copy of this operator for the flow of the draft, which may be a recovery or a change of address.
    package func following(_ draft: Draft) -> Operator { following(draft.flow) }

    private func following(_ flowID: String) -> Operator {
        let purpose = FlowPurpose(ofFlow: flowID)
        let change = flow.changes.first { $0.purpose == purpose }
        return Operator(change.map(signups.following) ?? signups, name: name, host: host, reason: reason)
    }

    package func progress(of draft: Draft) -> SignupProgress { signups.progress(of: draft) }

    package var flow: Flow { signups.flow }

    /// Returns all reasons in the answers and codes of the draft why it cannot be committed, in the order of the steps;
    /// empty if there are none. Checks neither rate limits nor, for a recovery or a change of address, whether the
    /// account has changed since. For a sealed draft, returns only the reasons about the codes of its current step,
    /// and `sealed`.
    package func obstacles(of draft: Draft) async throws(DatabaseError) -> [Obstacle] {
        let context = signups.validationContext(of: draft).validatingAll
        let mails = try await undeliveredCodes(of: draft)
        if draft.isSealed { return sealedObstacles(of: draft, in: context, mails) }
        var obstacles: [Obstacle] = []
        for step in flow.steps {
            let asksForNothing = !step.isOptional && !step.fields.contains(where: \.isRequired)
            if asksForNothing, !draft.values.answered.contains(step.name) {
                obstacles.append(Obstacle(step: step.name, field: nil, reason: .notAnswered))
            }
            for field in step.fields where !field.kind.isOmitted(field, in: context) {
                if let reason = Self.reason(field, in: context, of: step) {
                    let reason = mails[field.name].map(reason.explained) ?? reason
                    obstacles.append(Obstacle(step: step.name, field: field.name, reason: reason))
                } else if try await isTaken(field, by: draft) {
                    obstacles.append(Obstacle(step: step.name, field: field.name, reason: .taken))
                }
            }
        }
        return obstacles
    }

    private func sealedObstacles(
        of draft: Draft,
        in context: ValidationContext,
        _ mails: [FieldName: OutboxRow]
    ) -> [Obstacle] {
        let name = StepName(draft.step)
        var obstacles: [Obstacle] = []
        for field in flow.step(named: name)?.fields ?? [] where !field.kind.holds(field.name, in: context) {
            guard let reason = field.kind.obstacle(field, in: context) else { continue }
            let explained = mails[field.name].map(reason.explained) ?? reason
            obstacles.append(Obstacle(step: name, field: field.name, reason: explained))
        }
        return obstacles + [Obstacle(step: name, field: nil, reason: .sealed)]
    }

    /// Returns the undelivered mails with the current codes of the draft, or the notices in place of such mails, by the
    /// field of the code.
    private func undeliveredCodes(of draft: Draft) async throws(DatabaseError) -> [FieldName: OutboxRow] {
        var fields: [UUID: FieldName] = [:]
        let codes: SQL = "FROM proofs WHERE draft = \(draft.id) AND mail IS NOT NULL"
        for row in try await database.read("SELECT mail, field \(codes)") {
            let (mail, field) = try row.decode(UUID.self, String.self)
            fields[mail] = FieldName(field)
        }
        var mails: [FieldName: OutboxRow] = [:]
        let isUndelivered: SQL = "id IN (SELECT mail \(codes)) AND state <> 'delivered' AND template <> 'withheld'"
        for mail in try await self.mails(where: isUndelivered) {
            if let field = fields[mail.id.rawValue] { mails[field] = mail }
        }
        return mails
    }

    private static func reason(_ field: Field, in context: ValidationContext, of step: Step) -> Obstacle.Reason? {
        if field.kind.holds(field.name, in: context) { return nil }
        if let reason = field.kind.obstacle(field, in: context) { return reason }
        if context.values.contains(field.name) {
            return .refused(field.kind.refusals(of: field.name, in: context))
        }
        return field.isRequired && !step.isOptional ? .missing : nil
    }

    private func isTaken(_ field: Field, by draft: Draft) async throws(DatabaseError) -> Bool {
        if flow.purpose == .recovery { return false }
        guard field.isIdentifier, let value = draft.values.json(of: field.name)?.string else { return false }
        let kind = type(of: field.kind).name
        return try await !database.read("SELECT 1 FROM identifiers WHERE kind = \(kind) AND value = \(value)").isEmpty
    }
}

extension Obstacle.Reason {
    /// In place of `codeNotGiven` and `codeExpired`, returns the reason why the mail with the code is undelivered.
    /// Returns any other reason unchanged.
    fileprivate func explained(by mail: OutboxRow) -> Self {
        let isExpired: Bool
        switch self {
        case .codeNotGiven: isExpired = false
        case .codeExpired: isExpired = true
        default: return self
        }
        switch (mail.state, mail.failure) {
        case (.dead, let failure?): return .codeRefused(failure: failure.text, isReply: failure.isReply)
        case (.waiting, _) where isExpired && !mail.canStillArrive:
            // The error that the sender will store when it gives the mail up.
            return .codeRefused(failure: OutboxSender.lateness(after: mail.lastError), isReply: false)
        case (.waiting, let failure?):
            return .codePostponed(
                failure: failure.text,
                isReply: failure.isReply,
                isExpired: isExpired,
                nextAttempt: mail.dueAt,
                now: mail.now
            )
        case (.waiting, nil): return .codeWaiting(isExpired: isExpired)
        case (.dead, nil), (.delivered, _): return self
        }
    }
}
