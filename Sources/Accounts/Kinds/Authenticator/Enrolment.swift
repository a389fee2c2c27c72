package import Foundation

/// The data that an authenticator app needs for its setup.
package struct Enrolment: Sendable {
    /// The secret in base32, for people who type it.
    package let secret: String
    /// The content of the QR code: `otpauth://totp/…`, the key URI format of authenticator apps.
    package let uri: String
    /// The time of the database.
    package let now: Date

    /// The number of seconds for which the current code of the app stays valid.
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

    /// The number of wrong codes within ``TOTP/period`` that ends an enrolment.
    static let maximumAttempts = 5
    /// The enrolment also ends at each multiple of this number of wrong codes in a draft.
    static let maximumFailures = 25
}

/// An authenticator that was just confirmed, and its recovery codes.
struct NewAuthenticator: Sendable {
    let authenticator: Authenticator
    let recoveryCodes: [RecoveryCode]
}

extension Authenticator {
    /// Refuses every code but the one that has confirmed the authenticator. Spends no guess, because no code can
    /// confirm it again.
    func checkRepetition(_ code: String, of field: FieldName) throws(SubmitError) {
        guard TOTP.code(secret, step: lastStep).utf8.equalsInConstantTime(code.utf8) else {
            throw .refused([Refusal(field, .codeWrong)])
        }
    }
}

extension Signups {
    /// Returns the data to set up the authenticator of the step; nil if the step asks for none, or if the draft has one
    /// already.
    ///
    /// Writes nothing: the secret is derived from the draft and the generation, and is stored only after a correct code
    /// has confirmed it.
    package func enrolment(at step: Step, of draft: Draft) async throws(DatabaseError) -> Enrolment? {
        guard let field = step.fields.first(where: { $0.kind is TOTPField }),
            !(draft.values[field.name] is Authenticator)
        else { return nil }
        let row = try await database.read(
            "SELECT generation FROM enrolments WHERE draft = \(draft.id) AND field = \(field.name.rawValue)"
        ).first
        return enrolment(in: field, try row?.decode(Int.self) ?? 0, of: draft)
    }

    /// The same for a draft that is not stored, so no guess was made.
    package func firstEnrolment(at step: Step, of draft: Draft) -> Enrolment? {
        step.fields.first { $0.kind is TOTPField }.map { enrolment(in: $0, 0, of: draft) }
    }

    private func enrolment(in field: Field, _ generation: Int, of draft: Draft) -> Enrolment {
        let names = flow.fields.filter(\.isIdentifier).compactMap { draft.values.json(of: $0.name)?.string }
        return Enrolment(
            secret: secrets(of: field.name, generation, of: draft)[0],
            issuer: serviceName,
            account: identifyingAddress(in: draft.values)?.rawValue ?? names.first,
            now: draft.now
        )
    }

    /// Counts the guess before it compares, so that parallel guesses cannot exceed the limit.
    ///
    /// - Returns: the new authenticator and its recovery codes; nil if the same code has confirmed an authenticator in
    ///   the meantime.
    func enrol(
        _ code: String,
        _ field: FieldName,
        of draft: Draft
    ) async throws(SubmitError) -> NewAuthenticator? {
        // The first guess is made before the draft's turn. A repetition already has the turn.
        let guess = try await retrying(draft) { (draft) throws(SubmitError) -> Guess? in
            if draft.account != nil { throw .committed }
            if let authenticator = draft.values[field] as? Authenticator {
                try authenticator.checkRepetition(code, of: field)
                return .repeated
            }
            guard let spent = try await spend(on: field, of: draft) else { return nil }
            return .correct(try compare(code, spent, field, of: draft))
        }
        return if case .correct(let authenticator) = guess { authenticator } else { nil }
    }

    private enum Guess {
        case correct(NewAuthenticator)
        /// The code has confirmed the draft's authenticator already.
        case repeated
    }

    private struct SpentAttempt {
        let generation, attemptsLeft: Int
        let now: Date
    }

    private func compare(
        _ code: String,
        _ spent: SpentAttempt,
        _ field: FieldName,
        of draft: Draft
    ) throws(SubmitError) -> NewAuthenticator {
        // Also accepts a secret that was shown before a key rotation.
        for secret in secrets(of: field, spent.generation, of: draft) {
            guard let step = TOTP.timeStep(of: code, using: secret, at: spent.now) else { continue }
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

    /// Returns nil if the draft is at another revision now.
    private func spend(on field: FieldName, of draft: Draft) async throws(SubmitError) -> SpentAttempt? {
        let insert: SQL = """
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
            ), counted AS (
                SELECT *, least(\(Enrolment.maximumAttempts) - cardinality(recent),
                                (\(Enrolment.maximumFailures) - failures % \(Enrolment.maximumFailures))
                                % \(Enrolment.maximumFailures)) AS attempts_left FROM spent
            )
            UPDATE enrolments
               SET failures = counted.failures,
                   generation = counted.generation + CASE WHEN attempts_left = 0 THEN 1 ELSE 0 END,
                   recent = CASE WHEN attempts_left = 0 THEN '{}' ELSE counted.recent END
              FROM counted WHERE draft = \(draft.id) AND field = \(field.rawValue)
            RETURNING counted.generation, attempts_left, now()
            """
        return try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            guard let row = try await database.transaction(lock(draft), insert, spend)[2].first else { return nil }
            let (generation, attemptsLeft, now) = try row.decode(Int.self, Int.self, Date.self)
            return SpentAttempt(generation: generation, attemptsLeft: attemptsLeft, now: now)
        }
    }

    /// A statement that follows the write. The confirmed secret is never shown again, and the correct code does not
    /// count as a failure.
    func confirmEnrolment(in field: FieldName, of draft: Draft) -> SQL {
        """
        UPDATE enrolments SET generation = generation + 1, failures = failures - 1, recent = '{}'
         WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))
        """
    }

    /// The secret under each key of the ring; the first one is shown. The secret changes if the draft gets a new token
    /// or another address.
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
