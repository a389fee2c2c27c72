package enum CheckError: Error {
    case locked(next: Step?)
    case committed
    case limited(LimitReached)
    case database(DatabaseError)
}

/// What a submission would be told.
package struct Verdict: Sendable {
    package let refusals: [Refusal]
    /// The values that hold as people write them, where that is another form than the canonical one.
    package let written: [(field: FieldName, text: String)]
}

extension Signups {
    /// What a submission of these answers would be told about the fields that are among them. Stores nothing, hashes
    /// nothing, sends nothing, and spends no attempt on a code.
    ///
    /// Of a public name it tells whether it is taken, so often an hour; of an address it never does.
    package func check(_ answers: JSON, on step: Step, of draft: Draft) async throws(CheckError) -> Verdict {
        if draft.account != nil { throw .committed }
        let standing = standing(of: draft)
        if standing.states[step.name] == .locked { throw .locked(next: standing.next) }
        let (values, _, all) = judge(answers, to: step, of: draft)
        var refusals = all.filter { answers[$0.field.rawValue] != nil }
        for field in step.fields where field.isIdentifier && field.kind is UsernameField {
            guard answers[field.name.rawValue] != nil, !refusals.contains(where: { $0.field == field.name }),
                let name = values[field.name]?.string, name != draft.values[field.name]?.string
            else { continue }
            if try await isTaken(name, UsernameField.name, of: draft) { refusals.append(Refusal(field.name, .taken)) }
        }
        let written = step.fields.compactMap { field -> (field: FieldName, text: String)? in
            guard answers[field.name.rawValue] != nil, !refusals.contains(where: { $0.field == field.name }),
                let text = values[field.name].flatMap(field.kind.written)
            else { return nil }
            return (field.name, text)
        }
        return Verdict(refusals: refusals, written: written)
    }

    private func isTaken(_ name: String, _ kind: String, of draft: Draft) async throws(CheckError) -> Bool {
        let charges = [charge(.usernameChecks, draft.id.bytes)]
        let row: (isTaken: Bool, number: Int?, wait: Int?)
        do throws(DatabaseError) {
            row = try await database.transaction(
                """
                WITH current AS (SELECT), \(refused(charges))
                SELECT \(isTaken(name, kind, except: draft.id)), \([Charge].columns)
                """
            )[0].only.decode(Bool.self, Int?.self, Int?.self)
        } catch {
            throw .database(error)
        }
        if let reached = reached(charges, row.number, row.wait) { throw .limited(reached) }
        return row.isTaken
    }
}
