internal import Foundation

extension Signups {
    /// A new code for the address and the mail that carries it.
    ///
    /// An address that has an account gets a code that cannot match, and at most once a day another mail. Everything else
    /// is the same, so the answer does not tell who is registered. That includes the work, whose time could be measured:
    /// each address is asked whether it had its mail today, and each gets a row in the outbox, if one that is not sent.
    ///
    /// - Parameter last: the generation of the code before it, if there was one.
    func newCode(
        _ field: FieldName,
        _ code: CodeField,
        for address: EmailAddress,
        after last: Int?,
        of draft: Draft
    ) -> Effect {
        Effect(
            condition: isGeneration(last, field, of: draft),
            laterLimits: mailCharges(to: address, code, of: draft),
            proof: (field, false),
            statements: codeStatements(
                field,
                code,
                address,
                generation: (last ?? 0) + 1,
                draft,
                when: hasWritten(draft)
            )
        )
    }

    /// Whether that code is still the last one.
    func isGeneration(_ generation: Int?, _ field: FieldName, of draft: Draft) -> SQL {
        """
        (SELECT generation FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue))
        IS NOT DISTINCT FROM \(generation)
        """
    }

    /// - Parameter condition: what must be true in the transaction for a code to be made.
    func codeStatements(
        _ field: FieldName,
        _ code: CodeField,
        _ address: EmailAddress,
        generation: Int,
        _ draft: Draft,
        when condition: SQL
    ) -> [SQL] {
        let digits = Self.digits(code.digits)
        let mail = outbox.seal(
            .init(to: address.rawValue, language: draft.language, code: (digits, code.lifetime.seconds / 60))
        )
        let daily = Limit(1, per: .seconds(86_400))
        let notice = charge("notice", daily, [Array(address.rawValue.utf8)])
        let sameWork = charge("no notice", daily, [Array(address.rawValue.utf8)])
        let codeDigest = codeDigests(digits, of: draft.id, address: address, generation: generation)[0]
        return discardMail(of: field, from: draft, when: condition) + [
            """
            INSERT INTO proofs (draft, field, mail, address_digest, code_digest, expires_at)
            SELECT \(draft.id), \(field.rawValue), \(mail.id), \(addressDigests(address)[0]),
                   CASE WHEN NOT EXISTS (SELECT FROM identifiers WHERE kind = 'email' AND value = \(address.rawValue))
                        THEN \(codeDigest) END,
                   now() + make_interval(secs => \(code.lifetime.seconds))
             WHERE \(condition)
            ON CONFLICT (draft, field) DO UPDATE
               SET address_digest = excluded.address_digest, code_digest = excluded.code_digest,
                   generation = proofs.generation + 1, attempts = 0, proved_at = NULL, sent_at = now(),
                   expires_at = excluded.expires_at, mail = excluded.mail
            """,
            """
            INSERT INTO outbox (id, template, sealed, useless_after)
            SELECT \(mail.id), CASE WHEN code_digest IS NOT NULL THEN 'verification-code'
                                    WHEN had_notice THEN 'withheld' ELSE 'already-registered' END,
                   \(mail.sealed), expires_at
              FROM proofs, LATERAL (
                    SELECT count(*) > 0 AS had_notice
                      FROM \(take([notice], when: "code_digest IS NULL", otherwise: [sameWork])) AS taken
                   ) AS today
             WHERE draft = \(draft.id) AND field = \(field.rawValue) AND mail = \(mail.id) AND \(condition)
            """,
        ]
    }

    /// The right code of that generation was given.
    func proved(_ field: FieldName, generation: Int, of draft: Draft) -> Effect {
        Effect(
            condition: """
                EXISTS (SELECT FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue)
                                             AND generation = \(generation) AND proved_at IS NULL)
                """,
            proof: (field, true),
            statements: [
                """
                UPDATE proofs SET proved_at = now(), code_digest = NULL, failures = failures - 1
                 WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))
                """
            ]
        )
    }

    /// The address of that code field counts as proved no longer.
    func withdrawal(of field: FieldName, from draft: Draft) -> Effect {
        let update: SQL = """
            UPDATE proofs SET proved_at = NULL, code_digest = NULL, expires_at = now()
             WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))
            """
        return Effect(
            proof: (field, false),
            statements: [update] + discardMail(of: field, from: draft, when: hasWritten(draft))
        )
    }

    /// The mail with the last code is not sent any more, and a link to continue elsewhere opens nothing.
    private func discardMail(of field: FieldName, from draft: Draft, when condition: SQL) -> [SQL] {
        let code: SQL = "SELECT mail FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue)"
        let link: SQL = "SELECT mail FROM handoffs WHERE draft = \(draft.id)"
        return [
            "\(Self.deleteWaiting("\(code) UNION ALL \(link)")) AND \(condition)",
            "DELETE FROM handoffs WHERE draft = \(draft.id) AND \(condition)",
        ]
    }

    /// Deletes those mails that carry a code or a link and are not on their way already; a notice to the owner of an
    /// account stays.
    ///
    /// Only waiting mail is sealed. To say so keeps PostgreSQL from walking through all waiting mail.
    static func deleteWaiting(_ mails: SQL) -> SQL {
        """
        DELETE FROM outbox WHERE id IN (
            SELECT id FROM outbox WHERE id IN (\(mails)) AND sealed IS NOT NULL AND template <> 'already-registered'
               FOR UPDATE SKIP LOCKED)
        """
    }

    /// What a mail with a code counts against. No resend resets any of it, and no stranger uses up the owner's.
    func mailCharges(to address: EmailAddress, _ code: CodeField, of draft: Draft) -> [Charge] {
        let pause = charge("resend", Limit(1, per: code.resendAfter), [draft.id.bytes, Array(address.rawValue.utf8)])
        return [pause] + mailCharges(to: address)
    }

    /// What any mail to an address counts against.
    func mailCharges(to address: EmailAddress) -> [Charge] {
        let address = Array(address.rawValue.utf8)
        return [
            charge(.mailsToAddressFromNetwork, address, network.prefix), charge(.mailsToAddress, address),
            charge(.mailsFromNetwork, network.prefix),
        ]
    }

    /// What stands for a code in the database, under each key of the ring. It is bound to the draft, the address and the
    /// generation, so it serves nowhere else.
    func codeDigests(_ digits: String, of draft: ID<Draft>, address: EmailAddress, generation: Int) -> [[UInt8]] {
        keys.digests(
            Array("code".utf8),
            draft.bytes,
            Array(address.rawValue.utf8),
            Array("\(generation)".utf8),
            Array(digits.utf8)
        )
    }

    /// Uniform digits, leading zeros kept.
    private static func digits(_ count: Int) -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
    }
}
