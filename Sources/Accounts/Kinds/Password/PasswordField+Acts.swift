extension PasswordField {
    package func check(_ entry: FlowEntry, at position: FieldPosition) throws(FlowFileError) {
        if position.earlier.contains(where: { $0.kind is PasswordField }) {
            throw entry.error("a flow can have only one field of kind \"password\"", at: "kind")
        }
    }

    package func check(_ entry: FlowEntry, of field: Field, in steps: [Step]) throws(FlowFileError) {
        let hasAuthenticator = steps.contains { step in
            !step.isOptional && step.fields.contains { $0.isRequired && $0.kind is TOTPField }
        }
        if policy.minimum < PasswordRules.minimumWithoutAuthenticator, !hasAuthenticator {
            throw entry.error("a minimum below 15 needs a required field of kind \"totp\" in the flow", at: "min")
        }
    }

    /// Replaces the password by its hash.
    package func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError) {
        guard let password = submission.inputs[field.name] as? SharedSecret else { return }
        let hashing = submission.signups.hashing
        let hash = try await submission.completed.once(field.name, "hash") { () throws(SubmitError) -> PHCString in
            do throws(HashingError) { return try await hashing.hash(password) } catch { throw .hashing(error) }
        }
        submission.change.values[field.name] = PasswordHash(phc: hash, minimum: policy.minimum)
    }

    /// The password was validated against the words known at that time. The hash shows whether a new word equals it.
    package func revalidate(_ field: Field, after submission: inout Submission) async throws(SubmitError) {
        guard let hash = value(in: submission.change.values, of: field.name)?.phc else { return }
        for word in submission.newContextWords where word.unicodeScalars.count >= policy.minimum {
            let hashing = submission.signups.hashing
            let isPassword = try await submission.completed.once(field.name, "\(word) \(hash.rawValue)") {
                () throws(SubmitError) -> Bool in
                do throws(HashingError) {
                    return try await hashing.verify(SharedSecret(Secret(normalising: word)), against: hash)
                } catch {
                    // A hash that exceeds the current cost limit cannot be verified, so the person must choose a
                    // password again.
                    if case .tooCostly = error { return true }
                    throw .hashing(error)
                }
            }
            guard isPassword else { continue }
            submission.change.values[field.name] = nil
            submission.change.cleared.append(field.name)
            return
        }
    }

    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard let hash = value(in: plan.draft.values, of: field.name)?.phc.rawValue else { return }
        plan.statements.append(
            """
            INSERT INTO credentials (account, kind, secret)
            SELECT id, 'password', \(hash) FROM \(plan.newAccount)
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

    package func masked(_ value: PasswordHash) -> String { "set" }
    package func revealed(_ value: PasswordHash) -> String { "set" }

    package func reviewText(_ shown: JSON, in language: Language) -> String { language.messages.text(.isSet) }
}

extension Submission {
    /// The words in the changed values of this submission that a password must not equal.
    fileprivate var newContextWords: [String] {
        step.fields.flatMap { field -> [String] in
            if change.values.json(of: field.name) == draft.values.json(of: field.name) { return [] }
            return field.kind.contextWords(of: field.name, in: change.values)
        }
    }
}
