internal import Foundation

extension Signups {
    /// Makes a new code for the address and the mail that contains it.
    ///
    /// In a sign-up for an address that has an account, the code cannot match, and the mail is a notice, sent at most once
    /// a day. In a recovery for an address without an account, it cannot match either, and no mail is sent. Everything else
    /// is the same, so the answer does not reveal which addresses are registered. That includes the work, whose time could
    /// be measured: every address consumes a daily limit, and every address gets a row in the outbox, even if it is not
    /// sent.
    ///
    /// - Parameter last: the generation of the previous code, if there was one.
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

    /// Whether that code is still the latest one, as SQL.
    func isGeneration(_ generation: Int?, _ field: FieldName, of draft: Draft) -> SQL {
        """
        (SELECT generation FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue))
        IS NOT DISTINCT FROM \(generation)
        """
    }

    /// - Parameters:
    ///   - condition: a condition on the transaction; if it is false, no code is made.
    ///   - byTicket: whether the code was exchanged for a ticket.
    func codeStatements(
        _ field: FieldName,
        _ code: CodeField,
        _ address: EmailAddress,
        generation: Int,
        _ draft: Draft,
        when condition: SQL,
        byTicket: Bool = false
    ) -> [SQL] {
        let digits = Self.digits(code.digits)
        let purpose = flow.purpose
        let ticket = purpose.codeMail.ticketPath.map { _ in Ticket() }
        let mail = outbox.seal(
            .init(
                to: address.rawValue,
                language: draft.language,
                code: (digits, code.lifetime.seconds / 60),
                ticket: ticket?.text
            ),
            from: network,
            on: draft.now
        )
        let daily = Limit(1, per: .seconds(86_400))
        let subject = [Array(address.rawValue.utf8)] + purpose.limitSubject
        let notice = charge("notice", daily, subject)
        // Counted instead of a notice for an address without an account, so that both cases take the same time.
        let placeholder = charge("no notice", daily, subject)
        let codeDigest = codeDigests(digits, of: draft.id, address: address, generation: generation)[0]
        return replaceMail(of: field, from: draft, to: address, when: condition) + [
            """
            INSERT INTO proofs (draft, field, mail, address_digest, code_digest, expires_at, ticket_generation)
            SELECT \(draft.id), \(field.rawValue), \(mail.id), \(addressDigests(address)[0]),
                   CASE WHEN \(purpose.admits(address)) THEN \(codeDigest) END,
                   now() + make_interval(secs => \(code.lifetime.seconds)), \(byTicket ? generation : nil)
             WHERE \(condition)
            ON CONFLICT (draft, field) DO UPDATE
               SET address_digest = excluded.address_digest, code_digest = excluded.code_digest,
                   generation = proofs.generation + 1, attempts = 0, proved_at = NULL, sent_at = now(),
                   expires_at = excluded.expires_at, mail = excluded.mail, ticket_generation = NULL
            """,
            """
            INSERT INTO outbox (id, network, recipient, turn, template, sealed, useless_after)
            SELECT \(mail.id), \(mail.network), \(mail.recipient), mail_turn(\(mail.network)),
                   CASE WHEN code_digest IS NOT NULL THEN \(purpose.codeMail.rawValue)
                        WHEN had_notice OR \(purpose == .recovery) THEN 'withheld' ELSE 'already-registered' END,
                   \(mail.sealed), expires_at
              FROM proofs, LATERAL (
                    SELECT count(*) > 0 AS had_notice
                      FROM \(take([notice], when: "code_digest IS NULL", otherwise: [placeholder])) AS taken
                   ) AS recent
             WHERE draft = \(draft.id) AND field = \(field.rawValue) AND mail = \(mail.id) AND \(condition)
            """,
        ] + (ticket.map { [store($0, of: field, for: address, when: condition)] } ?? [])
    }

    /// Marks the address as proved by the code of that generation. The digest of the code stays, to recognise a
    /// repetition; it can prove nothing again, because ``spend(_:on:_:of:)`` accepts no code while `proved_at` is set.
    func proved(_ field: FieldName, generation: Int, of draft: Draft) -> Effect {
        Effect(
            condition: """
                EXISTS (SELECT FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue)
                                             AND generation = \(generation) AND proved_at IS NULL)
                """,
            proof: (field, true),
            statements: [
                """
                UPDATE proofs SET proved_at = now(), failures = failures - 1
                 WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))
                """
            ]
        )
    }

    /// Withdraws the proof of the address of that code field.
    func withdrawal(of field: FieldName, from draft: Draft) -> Effect {
        let update: SQL = """
            UPDATE proofs SET proved_at = NULL, code_digest = NULL, expires_at = now()
             WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))
            """
        return Effect(
            proof: (field, false),
            statements: [update] + discardLink(of: draft, when: hasWritten(draft))
        )
    }

    /// Deletes the mail with the last code if it is still waiting and goes to the same address as the next one, and
    /// invalidates a link to continue elsewhere.
    ///
    /// Mail to another address stays although its code is useless: it counts against the limit of that address, so the
    /// owner must get its ticket.
    private func replaceMail(
        of field: FieldName,
        from draft: Draft,
        to address: EmailAddress,
        when condition: SQL
    ) -> [SQL] {
        let mail: SQL = """
            SELECT mail FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue)
                                      AND address_digest = ANY (\(ByteStrings(addressDigests(address))))
            """
        return discardLink(of: draft, and: mail, when: condition)
    }

    /// Invalidates a link to continue elsewhere, and deletes its mail and those other mails that are still waiting.
    private func discardLink(
        of draft: Draft,
        and others: SQL = "SELECT NULL::uuid WHERE false",
        when condition: SQL
    ) -> [SQL] {
        let link: SQL = "SELECT mail FROM handoffs WHERE draft = \(draft.id)"
        return [
            "\(Self.deleteWaiting("\(link) UNION ALL \(others)")) AND \(condition)",
            "DELETE FROM handoffs WHERE draft = \(draft.id) AND \(condition)",
        ]
    }

    /// Deletes those mails that contain a code or a link and are not being delivered already. A notice to the owner of
    /// an account stays.
    ///
    /// Only waiting mail is encrypted. The explicit condition keeps PostgreSQL from scanning all waiting mail.
    static func deleteWaiting(_ mails: SQL) -> SQL {
        """
        DELETE FROM outbox WHERE id IN (
            SELECT id FROM outbox WHERE id IN (\(mails)) AND sealed IS NOT NULL AND template <> 'already-registered'
               FOR UPDATE SKIP LOCKED)
        """
    }

    /// The rate limits that a mail with a code consumes. A resend does not reset them, and the limit per network keeps
    /// a stranger from using up the limit of the address.
    func mailCharges(to address: EmailAddress, _ code: CodeField, of draft: Draft) -> [Charge] {
        let pause = charge("resend", Limit(1, per: code.resendAfter), [draft.id.bytes, Array(address.rawValue.utf8)])
        return [pause] + mailCharges(to: address)
    }

    /// The rate limits that any mail to an address consumes. All addresses of one mailbox count as one, and so do all
    /// networks of one site. The total of the addresses with a tag is apart: not every mail server knows tags, so mail
    /// to them may never reach the owner, and must not use up the total of the address without a tag.
    ///
    /// In a recovery, only the very address of an account gets mail, with its ticket. So only that one counts: otherwise
    /// strangers would use up its mails by other writings of it, which bring the owner nothing.
    func mailCharges(to address: EmailAddress) -> [Charge] {
        let isRecovery = flow.purpose == .recovery
        let mailbox = Array((isRecovery ? address.rawValue : address.mailbox).utf8)
        let total = address.isTagged && !isRecovery ? [mailbox, Array("tagged".utf8)] : [mailbox]
        return [
            charge(.mailsToAddressFromNetwork, of: [mailbox, network.site.prefix]),
            charge(.mailsToAddressFromNetworkPerDay, of: [mailbox, network.site.prefix]),
            charge(.mailsToAddress, of: total),
        ] + mailChargesOfService
    }

    /// The charge for an event of an address, which counts only for the purpose of this flow.
    func charge(_ name: Limits.Name, of address: [[UInt8]]) -> Charge {
        charge(name.rawValue, flow.limits[name], address + flow.purpose.limitSubject)
    }

    /// The rate limits of all mail that clients cause, whatever its address.
    var mailChargesOfService: [Charge] { charges(.mailsFromNetwork, of: network) + [chargeForAll(.mails)] }

    /// The digests of a code as the database stores them, under each key of the ring. They are bound to the draft, the
    /// address and the generation, so they are valid for nothing else.
    func codeDigests(_ digits: String, of draft: ID<Draft>, address: EmailAddress, generation: Int) -> [[UInt8]] {
        keys.digests(
            Array("code".utf8),
            draft.bytes,
            Array(address.rawValue.utf8),
            Array("\(generation)".utf8),
            Array(digits.utf8)
        )
    }

    /// Uniformly random digits, with leading zeros.
    static func digits(_ count: Int) -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
    }
}

extension FlowPurpose {
    /// Whether a code to that address can match, as SQL.
    fileprivate func admits(_ address: EmailAddress) -> SQL {
        switch self {
        case .signup, .emailChange:
            "NOT EXISTS (SELECT FROM identifiers WHERE kind = 'email' AND value = \(address.rawValue))"
        case .recovery: "EXISTS (SELECT FROM \(Signups.recoverable(address)))"
        }
    }
}
