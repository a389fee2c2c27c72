/// The members of ``FieldActs`` that a password needs.
extension PasswordField {
    package func check(_ entry: YAMLEntry, at position: FieldPosition) throws(YAMLFileError) {
        if position.earlier.contains(where: { $0.kind is PasswordField }) {
            throw entry.error("a flow can have only one field of kind \"password\"", at: "kind")
        }
    }

    package func check(_ entry: YAMLEntry, of field: Field, in steps: [Step]) throws(YAMLFileError) {
        if policy.minimum < PasswordRules.minimumWithoutAuthenticator, !steps.requireAuthenticator {
            throw entry.error("a minimum below 15 needs a required field of kind \"totp\" in the flow", at: "min")
        }
    }

    package func lookUp(
        _ password: SharedSecret,
        in field: Field,
        by signups: Signups
    ) async throws(HashingError) -> [Refusal] {
        guard let breached = signups.breached else { return [] }
        return try await breached.contain(password, for: signups.network) ? [Refusal(field.name, .common)] : []
    }

    package func workCharges(_ field: Field, for submission: Submission) throws(SubmitError) -> [Charge] {
        let all = submission.inputs[field.name] != nil ? [Self.newHash] : comparisons(of: field, in: submission)
        let missing = all.filter { !submission.completed.contains(field.name, $0) }
        if missing.isEmpty { return [] }
        let (signups, draft) = (submission.signups, submission.draft)
        if submission.inputs[field.name] == nil, let phc = value(in: submission.change.values, of: field.name)?.phc {
            // If the pepper of the stored hash is missing, fails here, before a rate limit is consumed.
            do throws(HashingError) { _ = try signups.keys.pepper(of: phc) } catch { throw .hashing(error) }
        }
        if let rejection = signups.hashing.rejection(of: signups.network) { throw .hashing(rejection) }
        return missing.flatMap { _ in
            [signups.charge(.passwordHashes, draft.id.bytes)]
                + signups.charges(.passwordHashesFromNetwork, of: signups.network)
        }
    }

    /// Hashes a submitted password. If another step than the submitted one has stored the password, compares it with
    /// each word of the new answers that it must not equal, such as a username, and clears it if one is the password.
    package func work(_ field: Field, _ submission: inout Submission) async throws(SubmitError) -> [Refusal] {
        let (signups, completed) = (submission.signups, submission.completed)
        if let password = submission.inputs[field.name] as? SharedSecret {
            let phc = try await completed.once(field.name, Self.newHash) { () throws(SubmitError) -> PHCString in
                do throws(HashingError) {
                    return try await signups.hashing.hash(password, pepper: signups.keys.pepper, for: signups.network)
                } catch { throw .hashing(error) }
            }
            submission.change.values[field.name] = PasswordHash(
                phc: phc,
                minimum: policy(in: signups.validationContext(of: submission.draft)).minimum
            )
            return []
        }
        guard let phc = value(in: submission.change.values, of: field.name)?.phc else { return [] }
        for (word, subject) in zip(newWords(for: field, in: submission), comparisons(of: field, in: submission)) {
            let isPassword = try await completed.once(field.name, subject) { () throws(SubmitError) -> Bool in
                let candidate = SharedSecret(Secret(normalising: word))
                do throws(HashingError) {
                    let pepper = try signups.keys.pepper(of: phc)
                    return try await signups.hashing.verify(
                        candidate,
                        against: phc,
                        pepper: pepper,
                        for: signups.network
                    )
                } catch {
                    // No worker has enough memory to verify this hash, so the person must choose a password again. A
                    // hash whose pepper is missing stays, because another server may have the pepper.
                    if case .tooCostly = error { return true }
                    throw .hashing(error)
                }
            }
            guard isPassword else { continue }
            submission.change.values[field.name] = nil
            submission.change.cleared.append(field.name)
            break
        }
        return []
    }

    /// The subject under which ``CompletedWork`` keeps the hash of a submitted password.
    private static let newHash = "hash"

    /// The subjects under which ``CompletedWork`` keeps the comparisons with the stored hash, one for each new word.
    private func comparisons(of field: Field, in submission: Submission) -> [String] {
        guard let phc = value(in: submission.change.values, of: field.name)?.phc else { return [] }
        return newWords(for: field, in: submission).map { "\($0) \(phc.rawValue)" }
    }

    /// The new words that are long enough to be the stored password. None if the submitted step has the password field,
    /// because the answers of one step are validated together.
    private func newWords(for field: Field, in submission: Submission) -> [String] {
        guard submission.step.field(named: field.name) == nil else { return [] }
        return submission.newContextWords.filter { $0.unicodeScalars.count >= policy.minimum }
    }

    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard let hash = value(in: plan.draft.values, of: field.name)?.phc.rawValue else { return }
        plan.factors.append("pwd")
        plan.statements.append(
            """
            SELECT replace_password(id, NULL, \(hash)) FROM \(plan.owner)
            """
        )
    }

    package static func accountQuery(of account: ID<Account>) -> AccountQuery? {
        AccountQuery(
            select: "SELECT kind FROM credentials WHERE account = \(account) ORDER BY kind"
        ) { rows throws(DatabaseError) in
            var kinds: [String] = []
            for row in rows { kinds.append(try row.decode(String.self)) }
            return AccountSection(
                precedesValues: true,
                entries: kinds.map { .init(label: "factor", text: $0) },
                members: [.init("credentials", .array(kinds.map(JSON.string)))]
            )
        }
    }

    package func pepperID(of value: PasswordHash) -> [UInt8]? { value.phc.keyID }

    package static var pepperedAccounts: SQL? { "SELECT pepper, accounts FROM pepper_usage()" }

    package func masked(_ value: PasswordHash) -> String { "set" }
    package func revealed(_ value: PasswordHash) -> String { "set" }

    package func reviewText(_ shown: JSON, in language: Language) -> String { language.messages.text(.isSet) }
}

extension Submission {
    /// The words that a password must not equal and that are in values that the submission changes.
    fileprivate var newContextWords: [String] {
        step.fields.flatMap { field -> [String] in
            if change.values.json(of: field.name) == draft.values.json(of: field.name) { return [] }
            return field.kind.contextWords(of: field.name, in: change.values)
        }
    }
}
