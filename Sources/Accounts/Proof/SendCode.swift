internal import Foundation

extension Signups {
    /// Part of a statement over `revised`: a new code for the address and the mail that carries it, in one transaction.
    ///
    /// An address that has an account gets a code that cannot match, and at most once a day another mail. Everything else is
    /// the same, so nobody learns from the answer who is registered. That includes the work, whose time could be told: each
    /// address is asked whether it had its mail today, and each gets a row in the outbox, if one that is not sent.
    func newCode(
        _ field: FieldName,
        _ code: CodeField,
        address: String,
        generation: Int,
        of draft: Draft,
        part number: SQL
    ) -> SQL {
        let digits = Self.digits(code.digits)
        let mail = outbox.seal(
            .init(to: address, language: draft.language, code: (digits, code.lifetime.seconds / 60))
        )
        let daily = Limit(1, per: .seconds(86_400))
        let notice = charge("notice", daily, [Array(address.utf8)])
        let likeIt = charge("no notice", daily, [Array(address.utf8)])
        return """
            \(uselessMail(of: field, part: number)),
            proof_\(number) AS (
                INSERT INTO proofs (draft, field, mail, address_digest, code_digest, expires_at)
                SELECT id, \(field.rawValue), \(mail.id), \(addressDigests(address)[0]),
                       CASE WHEN NOT EXISTS (SELECT FROM identifiers WHERE kind = 'email' AND value = \(address))
                            THEN \(codeDigests(digits, of: draft.id, address: address, generation: generation)[0])
                       END,
                       now() + make_interval(secs => \(code.lifetime.seconds))
                  FROM revised
                ON CONFLICT (draft, field) DO UPDATE
                   SET address_digest = excluded.address_digest, code_digest = excluded.code_digest,
                       generation = proofs.generation + 1, attempts = 0, proved_at = NULL, sent_at = now(),
                       expires_at = excluded.expires_at, mail = excluded.mail
                RETURNING code_digest, expires_at
            ), told_\(number) AS MATERIALIZED (
                SELECT FROM proof_\(number), LATERAL \(take([notice], when: "code_digest IS NULL", otherwise: [likeIt])) AS t
            ), mail_\(number) AS (
                INSERT INTO outbox (id, template, sealed, useless_after)
                SELECT \(mail.id),
                       -- Looked at first, for what nobody looks at is not done.
                       CASE WHEN EXISTS (SELECT FROM told_\(number)) AND code_digest IS NULL THEN 'withheld'
                            WHEN code_digest IS NULL THEN 'already-registered'
                            ELSE 'verification-code' END,
                       \(mail.sealed), expires_at
                  FROM proof_\(number)
            )
            """
    }

    /// Part of a statement over `revised`: the address is not what it was, or needs another code. The mail with the last
    /// one is not sent any more, and a link to go on elsewhere opens nothing.
    func uselessMail(of field: FieldName, part number: SQL) -> SQL {
        let coded: SQL = "SELECT mail FROM proofs JOIN revised ON draft = revised.id WHERE field = \(field.rawValue)"
        return """
            unlinked_\(number) AS (DELETE FROM handoffs USING revised WHERE draft = revised.id RETURNING mail),
            useless_\(number) AS (\(deleteWaiting("\(coded) UNION ALL SELECT mail FROM unlinked_\(number)")))
            """
    }

    /// Deletes those mails that carry a code and are not on their way already; a notice to the owner of an account stays.
    ///
    /// Only mail that waits is sealed. To say it so keeps PostgreSQL from walking through all that waits.
    func deleteWaiting(_ mails: SQL) -> SQL {
        """
        DELETE FROM outbox WHERE id IN (
            SELECT id FROM outbox WHERE id IN (\(mails)) AND sealed IS NOT NULL AND template <> 'already-registered'
               FOR UPDATE SKIP LOCKED
        )
        """
    }

    /// What a mail with a code counts against. No resend resets any of it, and no stranger uses up the owner's.
    func mailCharges(to address: String, _ code: CodeField, of draft: Draft) -> [Charge] {
        let pause = charge("resend", Limit(1, per: code.resendAfter), [draft.id.bytes, Array(address.utf8)])
        return [pause] + mailCharges(to: address)
    }

    /// What any mail to an address counts against.
    func mailCharges(to address: String) -> [Charge] {
        let address = Array(address.utf8)
        return [
            charge(.mailsToAddressFromNetwork, address, network.prefix), charge(.mailsToAddress, address),
            charge(.mailsFromNetwork, network.prefix),
        ]
    }

    /// What stands for a code in the database, under each key of the ring. It is bound to the draft, the address and the
    /// generation, so it serves nowhere else.
    func codeDigests(_ digits: String, of draft: ID<Draft>, address: String, generation: Int) -> [[UInt8]] {
        keys.digests(
            Array("code".utf8),
            draft.bytes,
            Array(address.utf8),
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
