/// The field of a recovery that asks for a code of the account's authenticator app, or for a recovery code. The person
/// sees it only after the draft has proved an address whose account has an app (``isOmitted(_:in:)``). No flow file can
/// have a field of this kind.
package struct SecondFactorField: FieldKind {
    package typealias Value = GivenFactor
    package typealias Input = SecondFactor
    package static let name = "second-factor"
    /// The field with the mailed code that proves the address. Once a right code has proved the address, the draft
    /// stores the account that has the address.
    let follows: FieldName

    init(after code: FieldName) { follows = code }

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        throw rules.error("a flow file cannot have a field of kind \"\(Self.name)\"", at: "kind")
    }

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> SecondFactor
    {
        if let code = RecoveryCode(try answer.text(of: field)) { return .recoveryCode(code) }
        return .totp(try answer.digits(TOTP.digits, of: field))
    }

    package func isValid(_ value: GivenFactor, of field: FieldName, in context: ValidationContext) -> Bool {
        value.account == context.values.subject?.account
    }

    package func isOmitted(_ field: Field, in context: ValidationContext) -> Bool {
        context.values.subject?.needsSecondFactor != true
    }

    package var takesGuess: Bool { true }
    package var canBeSkipped: Bool { false }
    package var isKeptUnlessReplaced: Bool { true }
    package var control: Control { Self.textControl }
    /// A text control, not a numeric one, because a recovery code has letters.
    static let textControl = Control(type: "text", autocomplete: "one-time-code")
    package var answerSchema: JSON { ["type": "string"] }

    package func shown(_ value: GivenFactor, at place: DisplayContext) -> JSON { ["verified": true] }
    package func shownSchema(at place: DisplayContext) -> JSON { .closedObject(["verified": ["const": true]]) }
    package func reviewText(_ shown: JSON, in language: Language) -> String { language.messages.text(.confirmed) }
    package func masked(_ value: GivenFactor) -> String { "verified" }
    package func revealed(_ value: GivenFactor) -> String { "verified" }
}

/// A second factor that was proved in a draft.
package struct GivenFactor: StoredValue {
    let account: ID<Account>
    /// The keyed digest of the code. With it, the service recognises that the same code is submitted again, for example
    /// by a double click.
    let digest: String

    init(account: ID<Account>, digest: String) {
        (self.account, self.digest) = (account, digest)
    }

    package init?(json: JSON) {
        guard let account = json["account"]?.string.flatMap({ ID<Account>($0) }), let digest = json["digest"]?.string
        else { return nil }
        self.init(account: account, digest: digest)
    }

    package var json: JSON { ["account": .string("\(account)"), "digest": .string(digest)] }
}

extension SecondFactorField {
    /// Counts the attempt, then compares the code. The transaction that writes the draft uses up the code.
    package func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError) {
        guard let factor = submission.inputs[field.name] as? SecondFactor,
            let account = submission.draft.values.subject?.account
        else { return }
        submission.hasGuess = true
        let (signups, draft) = (submission.signups, submission.draft)
        let digests = signups.digests(of: factor, in: draft)
        if let given = value(in: draft.values, of: field.name), digests.contains(given.digest) { return }
        // Failed recovery codes are counted separately, so that guessed app codes do not keep the owner from using a
        // recovery code.
        let (guessed, limit): (String, Limits.OtherName) =
            if case .totp = factor {
                ("second factor of a recovery", .appGuessesForAccount)
            } else {
                ("recovery code of a recovery", .recoveryCodeGuessesForAccount)
            }
        let counts = signups.failureCounts(guessed, account.bytes, nil)
        try await submission.completed.once(field.name, "attempt") { () throws(SubmitError) in
            try await signups.count(counts, limit)
        }
        guard let right = try await signups.check(factor, of: account, in: draft) else {
            throw .refused([Refusal(field.name, .codeWrong)])
        }
        submission.change.values[field.name] = GivenFactor(account: account, digest: digests[0])
        submission.change.recoveryCodes += [right.newRecoveryCode].compactMap { $0 }
        submission.change.effects.append(
            Effect(
                locks: [Signups.lockAuthenticator(of: account)],
                condition: right.isUnused,
                statements: right.statements
                    + signups.forgive(counts, isKnown: false, when: signups.hasWritten(draft))
            )
        )
    }

    /// Stores the account of the address in the draft, if this submission proves the address.
    package func work(_ field: Field, _ submission: inout Submission) async throws(SubmitError) -> [Refusal] {
        let proofs = submission.change.effects.compactMap(\.proof)
        guard proofs.contains(where: { $0.field == follows && $0.isProved }) else { return [] }
        let signups = submission.signups
        if let address = signups.identifyingAddress(in: submission.change.values) {
            submission.change.values.subject = try await signups.subject(at: address)
            // A password that was long enough with the app of another account may be too short if this account has no
            // app.
            submission.change.values.validFlow = nil
        }
        return []
    }

    package func addressChanges(_ field: Field, of step: Step, _ change: inout Change) {
        change.values.subject = nil
        change.values[field.name] = nil
    }

    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        plan.hasProvedSecondFactor = value(in: plan.draft.values, of: field.name)?.account == plan.account
    }
}

extension Signups {
    /// Returns the part after `FROM` of a query for the account that can be recovered by mail to that address: the
    /// account that has the address now, unless the account is disabled.
    static func recoverable(_ address: EmailAddress) -> SQL {
        """
        identifiers JOIN accounts ON accounts.id = account
         WHERE kind = 'email' AND value = \(address.rawValue) AND reserved_until IS NULL AND disabled_at IS NULL
        """
    }

    fileprivate func subject(at address: EmailAddress) async throws(SubmitError) -> Values.Subject? {
        let select: SQL = """
            SELECT accounts.id, credentials_version, username, EXISTS (SELECT FROM authenticators WHERE account = accounts.id)
              FROM \(Self.recoverable(address))
            """
        return try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            guard let row = try await database.read(select).first else { return nil }
            let (account, version, username, hasAuthenticator) = try row.decode(
                ID<Account>.self,
                Int.self,
                String?.self,
                Bool.self
            )
            return Values.Subject(
                account: account,
                credentialsVersion: version,
                needsSecondFactor: hasAuthenticator,
                words: [username].compactMap { $0 }
            )
        }
    }

    /// The keyed digests of the code together with the id of the draft: one for each key of the key ring.
    fileprivate func digests(of factor: SecondFactor, in draft: Draft) -> [String] {
        let text =
            switch factor {
            case .totp(let digits): digits
            case .recoveryCode(let code): code.text
            }
        return keys.digests(Array("second factor".utf8), draft.id.bytes, Array(text.utf8))
            .map { Array($0.prefix(24)).base64URL }
    }

    /// Counts an attempt. Throws `limited` if too many attempts have failed.
    fileprivate func count(_ counts: FailureCounts, _ limit: Limits.OtherName) async throws(SubmitError) {
        let tooMany = try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(count(counts, isKnown: "false", when: "true"))
            return try exceeded(counts, named: limit.rawValue, rows[0], rows[1])
        }
        if let tooMany { throw .limited(tooMany) }
    }

    /// A correct code: the condition that it is unused, and the statements that use it up.
    fileprivate struct RightFactor {
        /// An SQL condition: no other request has used the code since it was compared.
        let isUnused: SQL
        /// Statements that use the code up if the draft was written. For a recovery code, they also store the code that
        /// replaces it, and mail a notice that it was used.
        let statements: [SQL]
        /// The code that replaces a used recovery code; nil for a code of the app.
        var newRecoveryCode: RecoveryCode?
    }

    /// Compares the code. Returns nil if it is wrong or was used before. Throws `superseded` as
    /// ``endIfSuperseded(_:)`` does.
    fileprivate func check(
        _ factor: SecondFactor,
        of account: ID<Account>,
        in draft: Draft
    ) async throws(SubmitError) -> RightFactor? {
        let hasWritten = hasWritten(draft)
        switch factor {
        case .totp(let code):
            let found = try await converting(to: SubmitError.database) { () throws(DatabaseError) in
                try await authenticator(of: account)
            }
            switch found {
            case .readable: break
            case .unreadable: throw .unreadableAuthenticator(account)
            // The app was removed after the draft had stored that the account has one.
            case nil: try await endIfSuperseded(draft)
            }
            guard case .readable(let authenticator)? = found,
                let step = TOTP.timeStep(of: code, using: authenticator.secret, at: authenticator.now),
                step > authenticator.lastStep
            else { return nil }
            let isUnused: SQL = "account = \(account) AND last_step < \(step)"
            return RightFactor(
                isUnused: "EXISTS (SELECT FROM authenticators WHERE \(isUnused))",
                statements: ["UPDATE authenticators SET last_step = \(step) WHERE \(isUnused) AND \(hasWritten)"]
            )
        case .recoveryCode(let code):
            let isUnused: SQL = "account = \(account) AND digest = \(code.digest)"
            let isRight = try await converting(to: SubmitError.database) { () throws(DatabaseError) in
                try await !database.read("SELECT FROM recovery_codes WHERE \(isUnused)").isEmpty
            }
            guard isRight else {
                try await endIfSuperseded(draft)
                return nil
            }
            let new = RecoveryCode()
            let notice = identifyingAddress(in: draft.values).map {
                mail(about: .recoveryCodeUsed, on: account, to: $0.rawValue, in: draft.language, when: hasWritten)
            }
            return RightFactor(
                isUnused: "EXISTS (SELECT FROM recovery_codes WHERE \(isUnused))",
                statements: [
                    "DELETE FROM recovery_codes WHERE \(isUnused) AND \(hasWritten)",
                    """
                    INSERT INTO recovery_codes (account, digest) SELECT \(account), \(new.digest) WHERE \(hasWritten)
                    """,
                ] + [notice].compactMap { $0 },
                newRecoveryCode: new
            )
        }
    }

    /// Ends the draft and throws `superseded` if the draft can never be committed, because the account was erased or
    /// disabled, or its credentials have changed (``isUsable(_:)``).
    private func endIfSuperseded(_ draft: Draft) async throws(SubmitError) {
        let isSuperseded = try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            // A read checks this first, because after most wrong codes the draft is still usable and no transaction is
            // needed. If no draft was ended, the change of the account has ended it already.
            if try await isUsable(draft) { return false }
            if try await endIfOutdated(draft) { return true }
            return try await !isUsable(draft)
        }
        if isSuperseded { throw .find(.ended(.superseded)) }
    }

    private func isUsable(_ draft: Draft) async throws(DatabaseError) -> Bool {
        try await database.read("SELECT \(Self.isUsable(draft.values.subject))").only.decode(Bool.self)
    }
}
