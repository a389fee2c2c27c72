package import Foundation

/// An authenticator app that is about to be set up: what it has to know.
package struct Enrolment: Sendable {
    /// In base32, as people type it.
    package let secret: String
    /// For the QR code: `otpauth://totp/…`, the key URI format that every app reads.
    package let uri: String
    /// The database's clock.
    package let now: Date

    /// How long the present code of the app is good.
    package var secondsRemaining: Int { TOTP.period - Int(now.timeIntervalSince1970) % TOTP.period }

    init(secret: [UInt8], issuer: String, account: String?, now: Date) {
        self.secret = secret.base32.uppercased()
        self.now = now
        func escaped(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .urlUnreserved) ?? ""
        }
        let label = [issuer, account].compactMap { $0 }.map(escaped).joined(separator: ":")
        uri = """
            otpauth://totp/\(label)?secret=\(self.secret)&issuer=\(escaped(issuer))&algorithm=SHA1\
            &digits=\(TOTP.digits)&period=\(TOTP.period)
            """
    }

    /// Wrong codes within ``TOTP/period`` that end an enrolment.
    static let maximumAttempts = 5
    /// Wrong codes in a draft, at whose every multiple the enrolment ends.
    static let maximumFailures = 25
}

/// An authenticator that has just shown a right code, and the codes that help where it is lost.
struct NewAuthenticator: Sendable {
    let authenticator: Authenticator
    let recoveryCodes: [RecoveryCode]
}

extension Signups {
    /// What an app has to know to be the authenticator that the step asks for; nil where it asks for none, or has one.
    ///
    /// Nothing is written: the secret follows from the draft and the generation, and is kept nowhere until a right code has
    /// shown that somebody has it.
    package func enrolment(at step: Step, of draft: Draft) async throws(DatabaseError) -> Enrolment? {
        guard let field = step.fields.first(where: { $0.kind is TOTPField }),
            !(draft.values[field.name] is Authenticator)
        else { return nil }
        let row = try await database.read(
            "SELECT generation FROM enrolments WHERE draft = \(draft.id) AND field = \(field.name.rawValue)"
        ).first
        let generation = try row?.decode(Int.self) ?? 0
        let names = flow.fields.filter(\.isIdentifier).compactMap { draft.values.json(of: $0.name)?.string }
        return Enrolment(
            secret: secrets(of: field.name, generation, of: draft)[0],
            issuer: serviceName,
            account: identifyingAddress(in: draft.values)?.rawValue ?? names.first,
            now: draft.now
        )
    }

    /// Counts the guess, and only then compares: no two guesses at once can both be the last.
    ///
    /// - Returns: the authenticator that has this code now, and the codes that help where it is lost; nil where the draft has
    ///   got one meanwhile.
    func enrol(
        _ code: String,
        _ field: FieldName,
        of draft: Draft
    ) async throws(SubmitError) -> NewAuthenticator? {
        var draft = draft
        for _ in 0..<Self.tries {
            if draft.values[field] is Authenticator { return nil }
            if let spent = try await spend(on: field, of: draft) { return try judge(code, spent, field, of: draft) }
            draft = try await reread(draft, orThrow: SubmitError.find)
            if draft.account != nil { throw .committed }
        }
        throw .contended
    }

    private struct SpentAttempt {
        let generation, attemptsLeft: Int
        let now: Date
    }

    private func judge(
        _ code: String,
        _ spent: SpentAttempt,
        _ field: FieldName,
        of draft: Draft
    ) throws(SubmitError) -> NewAuthenticator {
        // A secret that was shown before the keys were rotated counts too.
        for secret in secrets(of: field, spent.generation, of: draft) {
            guard let step = TOTP.step(of: code, by: secret, at: spent.now) else { continue }
            let codes = (0..<RecoveryCode.count).map { _ in RecoveryCode() }
            let authenticator = Authenticator(secret: secret, lastStep: step, recoveryCodes: codes)
            return NewAuthenticator(authenticator: authenticator, recoveryCodes: codes)
        }
        let refusal =
            spent.attemptsLeft == 0
            ? Refusal(field, .codeExhausted, ["new_secret": true])
            : Refusal(field, .codeWrong, ["attempts_left": .integer(spent.attemptsLeft)])
        throw .refused([refusal])
    }

    /// Nil where the draft is at another revision by now.
    private func spend(on field: FieldName, of draft: Draft) async throws(SubmitError) -> SpentAttempt? {
        let begin: SQL = """
            INSERT INTO enrolments (draft, field)
            SELECT id, \(field.rawValue) FROM \(table(of: draft.id)) WHERE \(isCurrent(draft))
            ON CONFLICT DO NOTHING
            """
        let spend: SQL = """
            WITH spent AS (
                SELECT generation, failures + 1 AS failures,
                       now() || ARRAY(SELECT moment FROM unnest(recent) AS moment
                                       WHERE moment > now() - make_interval(secs => \(TOTP.period))) AS recent
                  FROM enrolments WHERE draft = \(draft.id) AND field = \(field.rawValue)
                   AND EXISTS (SELECT FROM \(table(of: draft.id)) WHERE \(isCurrent(draft)))
            ), judged AS (
                SELECT *, least(\(Enrolment.maximumAttempts) - cardinality(recent),
                                (\(Enrolment.maximumFailures) - failures % \(Enrolment.maximumFailures))
                                % \(Enrolment.maximumFailures)) AS attempts_left FROM spent
            )
            UPDATE enrolments
               SET failures = judged.failures,
                   generation = judged.generation + CASE WHEN attempts_left = 0 THEN 1 ELSE 0 END,
                   recent = CASE WHEN attempts_left = 0 THEN '{}' ELSE judged.recent END
              FROM judged WHERE draft = \(draft.id) AND field = \(field.rawValue)
            RETURNING judged.generation, attempts_left, now()
            """
        return try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            guard let row = try await database.transaction(lock(draft), begin, spend)[2].first else { return nil }
            let (generation, attemptsLeft, now) = try row.decode(Int.self, Int.self, Date.self)
            return SpentAttempt(generation: generation, attemptsLeft: attemptsLeft, now: now)
        }
    }

    /// A statement that follows the write: the secret that is confirmed now is never shown again, and the code that
    /// confirmed it was no failure.
    func confirmEnrolment(in field: FieldName, of draft: Draft) -> SQL {
        """
        UPDATE enrolments SET generation = generation + 1, failures = failures - 1, recent = '{}'
         WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))
        """
    }

    /// The secret under each key of the ring; the first is the one that is shown. Who goes on with the draft elsewhere, or
    /// proves another address, is told another.
    private func secrets(of field: FieldName, _ generation: Int, of draft: Draft) -> [[UInt8]] {
        let addresses = flow.fields.compactMap(\.kind.provedField).map {
            draft.values.address(in: $0)?.rawValue ?? ""
        }
        return keys.digests(
            Array("authenticator".utf8),
            draft.id.bytes,
            draft.tokenHash,
            Array(addresses.joined(separator: " ").utf8),
            Array(field.rawValue.utf8),
            Array("\(generation)".utf8)
        ).map { Array($0.prefix(TOTP.secretLength)) }
    }
}

extension CharacterSet {
    /// RFC 3986 §2.3.
    fileprivate static let urlUnreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}
