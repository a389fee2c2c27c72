extension Sessions {
    /// Gives the account a new password. Ends all other sessions, and forgets all devices but the one of this client.
    /// Returns the session with its new token, and with a new device token if the client sent none, for example because
    /// it keeps no cookies; nil if a sign-out ended the session during the change.
    ///
    /// Throws `refused` if an answer is invalid, or if the new password is a breached one or the present one.
    ///
    /// - Parameter answers: the new password, and its repetition if the flow asks for one, by the names of their
    ///   fields.
    package func changePassword(
        _ answers: Answers,
        of session: AccountSession,
        in language: Language
    ) async throws(SignInError) -> NewSession? {
        try requireConfirmation(of: session)
        let (field, password) = try checked(answers, for: session, in: language)
        let refusals: [Refusal]
        do throws(HashingError) {
            refusals = try await field.kind.lookUp([field.name: password], of: field, by: signups)
        } catch {
            throw .hashing(error)
        }
        if !refusals.isEmpty { throw .refused(refusals) }
        // Counts two hashes: one for the comparison with the present password, and one for the new password. Counts
        // both before the first one is computed, so that a request beyond the rate limit costs no hash.
        for _ in 1...2 { try await takeHash(toChange: session.account) }
        if try await isCurrent(password, of: session.account.id) {
            throw .refused([Refusal(field.name, .unchanged)])
        }
        let new = try await hash(password)
        let id = session.account.id
        let replace: SQL = """
            SELECT \(Signups.setFlag("changed", "replace_password(\(id), NULL, \(new.rawValue))"))
             WHERE \(Self.mayChange)
            """
        let device = self.device
        let forgetDevices: SQL = """
            DELETE FROM devices WHERE account = \(id) AND digest <> \(device.digest) AND \(Signups.flag("changed"))
            """
        let changed: SQL = "(SELECT id FROM accounts WHERE id = \(id) AND \(Signups.flag("changed"))) AS account"
        let remember = client.device == nil ? signups.remember(device, of: changed) : []
        let renewed = try await changeCredentials(
            of: session,
            telling: .passwordChanged,
            in: language,
            [replace, forgetDevices] + remember
        )
        return renewed.map {
            NewSession(session: $0.session, token: $0.token, device: client.device == nil ? device : nil)
        }
    }

    /// Returns the password field of the flow, and the new password in its canonical form. Throws `refused` with the
    /// refusals of the answers, and `noSuchFactor` if the flow has no password.
    private func checked(
        _ answers: Answers,
        for session: AccountSession,
        in language: Language
    ) throws(SignInError) -> (Field, SharedSecret) {
        guard let field = flow.fields.first(where: { $0.kind.takesSecret && $0.kind.repeatedField == nil }) else {
            throw .noSuchFactor
        }
        let repeated = flow.fields.first { $0.kind.repeatedField == field.name }
        let context = ValidationContext(
            flow: flow,
            now: session.now,
            language: language,
            serviceName: signups.serviceName,
            values: Values(of: session.account, in: flow),
            proofs: [:],
            answers: answers,
            isPasswordOnlyFactor: session.assurance == .aal1
        )
        let fields = [field, repeated].compactMap { $0 }
        let unknown = answers.members.map(\.name).filter { name in !fields.contains { $0.name == name } }
        var refusals = unknown.prefix(Refusal.maximumUnknownFields).map { Refusal($0, .unknownField) }
        var password: SharedSecret?
        for one in fields {
            do throws(Refusals) {
                guard let answer = answers[one.name], !answer.isBlank else { throw Refusals(one.name, .required) }
                let input = try one.kind.input(of: answer, in: one.name, context)
                if one.name == field.name { password = input as? SharedSecret }
            } catch {
                refusals += error.all
            }
        }
        guard refusals.isEmpty, let password else { throw .refused(refusals) }
        return (field, password)
    }

    /// Whether the password is the present one of the account. False also if this server cannot check the stored hash.
    private func isCurrent(_ password: SharedSecret, of account: ID<Account>) async throws(SignInError) -> Bool {
        let stored = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.read("SELECT password_hash(\(account))").only.decode(String?.self)
        }
        guard let stored = stored.flatMap(StoredPassword.init) else { return false }
        do throws(SignInError) {
            return try await verify(password, against: stored).isRight
        } catch .hashing(.tooCostly), .hashing(.unknownPepper) {
            return false
        }
    }

    private func hash(_ password: SharedSecret) async throws(SignInError) -> PHCString {
        do throws(HashingError) {
            return try await signups.hashing.hash(password, pepper: keys.pepper, for: signups.network)
        } catch {
            throw .hashing(error)
        }
    }

    /// Counts a password hash. Throws `limited` if the client's network has used up its password hashes, or if the
    /// notice of the change would exceed a limit, and `hashing` if the hashing pool would reject the password now.
    private func takeHash(toChange account: Account) async throws(SignInError) {
        let limits = signups.charges(.passwordHashesFromNetwork, of: signups.network)
        let laterLimits = signups.noticeCharges(to: account)
        if let rejection = signups.hashing.rejection(of: signups.network) { throw .hashing(rejection) }
        let exceeded = try await converting(to: SignInError.database) { () throws(DatabaseError) -> LimitReached? in
            let rows = try await database.transaction(
                signups.peek(laterLimits),
                signups.consume(limits, when: Signups.isWithinLimits)
            )
            if let exceeded = try signups.exceeded(laterLimits, rows[0]) { return exceeded }
            return try signups.exceeded(limits, rows[1])
        }
        if let exceeded { throw .limited(exceeded) }
    }
}

extension FieldKind {
    /// Validates the answer, like `parse`, for callers that do not know the type of the result.
    fileprivate func input(
        of answer: FieldAnswer,
        in field: FieldName,
        _ context: ValidationContext
    ) throws(Refusals) -> any Sendable {
        try parse(answer, of: field, in: context)
    }
}
