extension UsernameField {
    package static var draftTables: [String] { ["leases"] }

    /// The name that identifies the account belongs to the draft from now on.
    package func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError) {
        guard field.isIdentifier else { return }
        let (signups, draft) = (submission.signups, submission.draft)
        guard let name = submission.change.values[field.name]?.string else {
            submission.change.effects.append(Effect(statements: [signups.release(Self.name, by: draft)]))
            return
        }
        // To ask for the same name again tells nothing new.
        let isSame = draft.values[field.name]?.string == name
        submission.change.effects.append(
            Effect(
                limits: isSame ? [] : [signups.charge(.usernameChecks, draft.id.bytes)],
                lease: LeaseRequest(field: field.name, kind: Self.name, name: name),
                statements: [signups.release(Self.name, except: name, by: draft)]
            )
        )
    }

    /// Whether the name is taken. Each question counts against a rate limit, which prevents a client from listing all names.
    package func check(
        _ value: JSON,
        in field: Field,
        of draft: Draft,
        by signups: Signups
    ) async throws(CheckError) -> [Refusal] {
        guard field.isIdentifier, let name = value.string, name != draft.values[field.name]?.string else { return [] }
        let charges = [signups.charge(.usernameChecks, draft.id.bytes)]
        let (isTaken, exceeded) = try await converting(to: CheckError.database) { () throws(DatabaseError) in
            let rows = try await signups.database.transaction(
                signups.consume(charges),
                "SELECT \(signups.isTaken(name, Self.name, except: draft.id))"
            )
            return (try rows[1].only.decode(Bool.self), try signups.exceeded(charges, rows[0]))
        }
        if let exceeded { throw .limited(exceeded) }
        return isTaken ? [Refusal(field.name, .taken)] : []
    }

    package func clear(_ field: Field, of draft: Draft, by signups: Signups, _ change: inout Change) {
        guard field.isIdentifier else { return }
        change.effects.append(Effect(statements: [signups.release(Self.name, by: draft)]))
    }

    /// The name that identifies the account is a column of its own.
    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard let value = plan.draft.values[field.name] else { return }
        if field.isIdentifier {
            plan.username = value.string
        } else {
            plan.profile.append(.init(field.name.rawValue, value))
        }
    }

    package func renewDigests(
        of value: JSON,
        in field: Field,
        of draft: ID<Draft>,
        by signups: Signups
    ) -> [SQL] {
        guard field.isIdentifier, let name = value.string else { return [] }
        let digests = signups.nameDigests(name, Self.name)
        return [
            """
            UPDATE leases SET value = \(digests[0])
             WHERE draft = \(draft) AND value = ANY (\(ByteStrings(Array(digests.dropFirst()))))
            """
        ]
    }
}
