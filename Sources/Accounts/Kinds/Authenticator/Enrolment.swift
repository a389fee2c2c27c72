package import Foundation

/// The data that an authenticator app needs for its setup.
package struct Enrolment: Sendable {
    /// The secret in base32, for people who type it.
    package let secret: String
    /// The content of the QR code: `otpauth://totp/…`, the key URI format of authenticator apps.
    package let uri: String
    /// The time of the database.
    package let now: Date

    /// The number of seconds until the app shows the next code: from 1 to ``TOTP/period``.
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

    /// After this number of wrong codes within ``TOTP/period`` seconds, the person gets a new secret.
    static let maximumAttempts = 5
    /// The person also gets a new secret whenever the number of wrong codes in the draft reaches a multiple of this
    /// number.
    static let failuresPerSecret = 25
}

/// An authenticator that was just confirmed, and its recovery codes.
struct NewAuthenticator: Sendable {
    let authenticator: Authenticator
    let recoveryCodes: [RecoveryCode]
}

extension Authenticator {
    /// Throws `refused` unless the code is the one that has confirmed the authenticator. Counts no attempt, because a
    /// correct guess has no effect.
    func checkRepetition(_ code: String, of field: FieldName) throws(SubmitError) {
        guard TOTP.code(secret, step: lastStep).utf8.equalsInConstantTime(code.utf8) else {
            throw .refused([Refusal(field, .codeWrong)])
        }
    }
}

extension Signups {
    /// Returns the data to set up the authenticator app of the step; nil if the step asks for none, or if the draft
    /// already has an app.
    ///
    /// Writes nothing: the secret is derived from the draft and the number of earlier secrets of the draft, and is
    /// stored only after a correct code has confirmed it.
    package func enrolment(at step: Step, of draft: Draft) async throws(DatabaseError) -> Enrolment? {
        guard let field = step.fields.first(where: { $0.kind is TOTPField }),
            !(draft.values[field.name] is Authenticator)
        else { return nil }
        let row = try await database.read(
            "SELECT generation FROM enrolments WHERE draft = \(draft.id) AND field = \(field.name.rawValue)"
        ).first
        return enrolment(in: field, try row?.decode(Int.self) ?? 0, of: draft)
    }

    /// Returns the data to set up the authenticator app of the step in a draft that is not stored yet; nil if the step
    /// asks for none. No code was submitted in this draft, so its secret is the first one.
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

    /// Checks the code that sets up an authenticator app. Counts the attempt before it compares the code, so that
    /// parallel guesses cannot exceed the limit. Throws `refused` for a wrong code.
    ///
    /// - Returns: the new authenticator and its recovery codes; nil if another request has set up an authenticator with
    ///   the same code in the meantime.
    func enrol(
        _ code: String,
        _ field: FieldName,
        of draft: Draft
    ) async throws(SubmitError) -> NewAuthenticator? {
        // Calls `retrying` and not `retryingInTurn`: a submission that is retried already has its turn to act on the
        // draft (``DraftTurns``), and would wait for itself.
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
        /// The draft already has an authenticator, which the same code has confirmed.
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
        // Tries the secret of each key, because a secret that was shown before a key rotation was derived from an older
        // key.
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

    /// Counts an attempt. After the last permitted attempt, the person gets a new secret. Returns nil if the draft has
    /// changed or ended since it was read.
    private func spend(on field: FieldName, of draft: Draft) async throws(SubmitError) -> SpentAttempt? {
        let insert: SQL = """
            INSERT INTO enrolments (draft, field)
            SELECT id, \(field.rawValue) FROM \(table(of: draft.id)) WHERE \(isCurrent(draft))
            ON CONFLICT DO NOTHING
            """
        let count: SQL = """
            UPDATE enrolments
               SET failures = failures + 1,
                   recent = now() || ARRAY(SELECT moment FROM unnest(recent) AS moment
                                            WHERE moment > now() - make_interval(secs => \(TOTP.period)))
             WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(exists(draft))
            RETURNING generation, \(Self.attemptsLeft), now()
            """
        // Requires an unchanged draft, as `count` does. If the draft has changed, `count` has counted nothing, but
        // `attemptsLeft` is 0 if the number of earlier failures is a multiple of `failuresPerSecret`. The secret must
        // not be replaced then.
        let renew: SQL = """
            UPDATE enrolments SET generation = generation + 1, recent = '{}'
             WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(Self.attemptsLeft) = 0 AND \(exists(draft))
            """
        return try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(lock(draft), insert, count, renew)
            guard let row = rows[2].first else { return nil }
            let (generation, attemptsLeft, now) = try row.decode(Int.self, Int.self, Date.self)
            return SpentAttempt(generation: generation, attemptsLeft: attemptsLeft, now: now)
        }
    }

    /// An SQL expression over the columns of `enrolments`: the number of attempts that are left after the one that was
    /// just counted. At 0, the secret is replaced.
    private static let attemptsLeft: SQL = """
        least(\(Enrolment.maximumAttempts) - cardinality(recent),
              (\(Enrolment.failuresPerSecret) - failures % \(Enrolment.failuresPerSecret)) % \(Enrolment.failuresPerSecret))
        """

    /// Returns the statement that runs after the draft was written. It starts a new generation, so a later setup gets a
    /// new secret, and the confirmed one is never shown again. It also takes back the failure that was counted for the
    /// correct code.
    func confirmEnrolment(in field: FieldName, of draft: Draft) -> SQL {
        """
        UPDATE enrolments SET generation = generation + 1, failures = failures - 1, recent = '{}'
         WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))
        """
    }

    /// The possible secrets of the field, one for each key of the key ring. Pages and responses show the first one. The
    /// secrets change if the draft gets a new token, or another address that a code proves. They also change with the
    /// generation, which increases after too many wrong codes, and after a correct one.
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
    /// The unreserved characters of URIs (RFC 3986 §2.3).
    fileprivate static let urlUnreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}
