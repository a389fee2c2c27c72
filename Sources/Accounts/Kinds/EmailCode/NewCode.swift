internal import Foundation

extension Signups {
    /// The ``Effect`` that makes a new code for the address, and the mail with the code.
    ///
    /// If a sign-up or a change of address names an address that an account has, or that is reserved for one, no code
    /// can be correct, and the mail is a notice to its owner, at most once an hour. If a recovery names an address
    /// without an account, or with a disabled one, no code can be correct, and no mail is sent. Everything else is the
    /// same, so that responses do not reveal which addresses have an account. Response times must not reveal it either,
    /// so every address consumes an hourly limit and gets a row in the outbox, even if no mail is sent.
    ///
    /// - Parameter previousGeneration: the generation of the previous code; nil if there was none.
    func newCode(
        _ field: FieldName,
        _ kind: CodeField,
        for address: EmailAddress,
        after previousGeneration: Int?,
        of draft: Draft
    ) -> Effect {
        Effect(
            condition: isGeneration(previousGeneration, field, of: draft),
            laterLimits: mailCharges(to: address, kind, of: draft),
            proof: (field: field, isProved: false),
            statements: codeStatements(
                field,
                kind,
                address,
                after: previousGeneration,
                draft,
                when: hasWritten(draft)
            ),
            sendsMail: true
        )
    }

    /// Whether the latest code of the field has this ``Proof/generation``, as SQL. Nil stands for a field that has no
    /// code yet.
    func isGeneration(_ generation: Int?, _ field: FieldName, of draft: Draft) -> SQL {
        """
        (SELECT generation FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue))
        IS NOT DISTINCT FROM \(generation)
        """
    }

    /// Statements that replace the code of the field, and put the mail with the new code into the outbox. The mail also
    /// has a ``Ticket``, except in a change of address.
    ///
    /// - Parameters:
    ///   - previousGeneration: the generation of the previous code; nil if there was none.
    ///   - condition: SQL without columns, such as ``hasWritten(_:)``; if it is false, the statements do nothing.
    ///   - byTicket: whether the person gets the code in exchange for a ticket. This has no effect unless the code is
    ///     the first one of the draft and field.
    func codeStatements(
        _ field: FieldName,
        _ kind: CodeField,
        _ address: EmailAddress,
        after previousGeneration: Int?,
        _ draft: Draft,
        when condition: SQL,
        byTicket: Bool = false
    ) -> [SQL] {
        let generation = (previousGeneration ?? 0) + 1
        let digits = Self.randomDigits(count: kind.digits)
        let purpose = flow.purpose
        let ticket = purpose.codeMail.ticketPath.map { _ in Ticket() }
        let mail = outbox.seal(
            .init(
                to: address.rawValue,
                language: draft.language,
                code: (digits, kind.lifetime.seconds / 60),
                ticket: ticket?.text
            ),
            from: network,
            at: draft.now
        )
        let hourly = Limit(1, per: .seconds(3600))
        let subject = [Array(address.rawValue.utf8)] + purpose.limitSubject
        let notice = charge(named: "notice", hourly, subject)
        // Counts instead of `notice` if the code can be correct, so that all addresses take the same time.
        let placeholder = charge(named: "no notice", hourly, subject)
        let codeDigest = codeDigests(digits, of: draft.id, address: address, generation: generation)[0]
        return discardPreviousMail(of: field, from: draft, to: address, when: condition) + [
            """
            INSERT INTO proofs (draft, field, mail, address_digest, code_digest, expires_at, ticket_generation)
            SELECT \(draft.id), \(field.rawValue), \(mail.id), \(addressDigests(address)[0]),
                   CASE WHEN \(purpose.codeCanBeCorrect(for: address)) THEN \(codeDigest) END,
                   now() + make_interval(secs => \(kind.lifetime.seconds)), \(byTicket ? generation : nil)
             WHERE \(condition)
            ON CONFLICT (draft, field) DO UPDATE
               SET address_digest = excluded.address_digest, code_digest = excluded.code_digest,
                   generation = proofs.generation + 1, attempts = 0, proved_at = NULL, sent_at = now(),
                   expires_at = excluded.expires_at, mail = excluded.mail, ticket_generation = NULL
            """,
            // `taken` has a row if the limit is exceeded. If no code can be correct, the address then had its notice
            // within the hour.
            """
            INSERT INTO outbox (id, draft, network, recipient, turn, template, sealed, useless_after)
            SELECT \(mail.id), draft, \(mail.networkDigest), \(mail.recipientDigest), mail_turn(\(mail.networkDigest)),
                   CASE WHEN code_digest IS NOT NULL THEN \(purpose.codeMail.rawValue)
                        WHEN is_limited AND NOT \(Self.hasDeletedNotice) THEN 'withheld' ELSE \(purpose.templateWithoutCode) END,
                   \(mail.sealed),
                   \(ticket == nil ? "expires_at" : "now() + make_interval(secs => \(Ticket.lifetime.seconds))" as SQL)
              FROM proofs, LATERAL (
                    SELECT count(*) > 0 AS is_limited
                      FROM \(take([notice], when: "code_digest IS NULL", otherwise: [placeholder])) AS taken
                   ) AS recent
             WHERE draft = \(draft.id) AND field = \(field.rawValue) AND mail = \(mail.id) AND \(condition)
            """,
        ] + (ticket.map { [store($0, of: field, for: address, when: condition)] } ?? [])
    }

    /// The effect that marks the address as proved by the code of this generation. The effect also takes back the
    /// failure that ``spend(_:on:_:of:)`` has counted for the correct guess.
    ///
    /// The digest of the code stays in the row, so that a repetition of the code is recognised. The code cannot prove
    /// the address again, because ``spend(_:on:_:of:)`` accepts no code while `proved_at` is set.
    ///
    /// A code that was withdrawn after it was compared has no digest any more, and proves nothing.
    func proofEffect(_ field: FieldName, generation: Int, of draft: Draft) -> Effect {
        Effect(
            condition: """
                EXISTS (SELECT FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue)
                                             AND generation = \(generation) AND proved_at IS NULL
                                             AND code_digest IS NOT NULL)
                """,
            proof: (field: field, isProved: true),
            statements: [
                """
                UPDATE proofs SET proved_at = now(), failures = failures - 1
                 WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))
                """
            ]
        )
    }

    /// The effect that invalidates the code of the field, the proof that this code has given, and the link to continue
    /// on another device.
    func withdrawalEffect(of field: FieldName, from draft: Draft) -> Effect {
        let update: SQL = """
            UPDATE proofs SET proved_at = NULL, code_digest = NULL, expires_at = now()
             WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))
            """
        return Effect(
            proof: (field: field, isProved: false),
            statements: [update] + discardLinkAndMail(of: draft, when: hasWritten(draft))
        )
    }

    /// Statements that invalidate the link to continue on another device, and delete the mail with the previous code,
    /// or the notice in its place, if that mail still waits and goes to the same address as the new code. So the same
    /// number of mails waits, whether the address has an account or not.
    ///
    /// A mail to another address stays, although its code is invalid now: the mail has counted against the limits of
    /// that address, so the owner of the address must get the ticket in the mail.
    private func discardPreviousMail(
        of field: FieldName,
        from draft: Draft,
        to address: EmailAddress,
        when condition: SQL
    ) -> [SQL] {
        let mail: SQL = """
            SELECT mail FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue)
                                      AND address_digest = ANY (\(ByteStrings(addressDigests(address))))
            """
        return discardLinkAndMail(of: draft, alsoMails: mail, when: condition)
    }

    /// Statements that invalidate the link to continue on another device, and delete the mail with the link and the
    /// other mails if they still wait.
    ///
    /// - Parameter others: a query that selects the ids of the other mails.
    private func discardLinkAndMail(
        of draft: Draft,
        alsoMails others: SQL = "SELECT NULL::uuid WHERE false",
        when condition: SQL
    ) -> [SQL] {
        let link: SQL = "SELECT mail FROM handoffs WHERE draft = \(draft.id)"
        return [
            Self.deleteWaiting("\(link) UNION ALL \(others)", andNotices: true, when: condition),
            "DELETE FROM handoffs WHERE draft = \(draft.id) AND \(condition)",
        ]
    }

    /// A statement that deletes those of the mails that are still waiting. Skips a mail whose row another transaction
    /// has locked, for example to claim the mail for delivery. A mail that is being delivered may arrive nevertheless.
    ///
    /// The statement recognises waiting mail by the column `sealed`, which is NULL for mail that is delivered or dead.
    /// With a condition on `state` instead, PostgreSQL might scan the index of all waiting mail.
    ///
    /// - Parameters:
    ///   - mails: a query that selects the ids of mails.
    ///   - andNotices: whether the statement also deletes notices to owners of accounts. If it deletes a notice that
    ///     was not being delivered, ``hasDeletedNotice`` is true for the rest of the transaction.
    ///   - condition: SQL; if it is false, the statement does nothing.
    static func deleteWaiting(_ mails: SQL, andNotices: Bool = false, when condition: SQL = "true") -> SQL {
        let isNotice: SQL = """
            template IN (\(FlowPurpose.signup.templateWithoutCode), \(FlowPurpose.emailChange.templateWithoutCode))
            """
        return """
            WITH deleted AS (
                DELETE FROM outbox WHERE id IN (
                    SELECT id FROM outbox
                     WHERE id IN (\(mails)) AND sealed IS NOT NULL AND (\(andNotices) OR NOT \(isNotice))
                       FOR UPDATE SKIP LOCKED) AND \(condition)
                RETURNING template, sending_until
            )
            SELECT \(setFlag("notice_deleted", "true")) FROM deleted
             WHERE \(isNotice) AND (sending_until IS NULL OR sending_until <= now()) LIMIT 1
            """
    }

    /// Whether an earlier statement of the transaction has deleted a notice that will not arrive. The mail that
    /// replaces it is a notice, too.
    private static let hasDeletedNotice: SQL = flag("notice_deleted")

    /// The rate limits that a mail with a code consumes: one mail per ``CodeField/resendAfter`` for the draft and the
    /// address, and the limits of ``mailCharges(to:)``.
    func mailCharges(to address: EmailAddress, _ kind: CodeField, of draft: Draft) -> [Charge] {
        let pause = charge(.resend, Limit(1, per: kind.resendAfter), [draft.id.bytes, Array(address.rawValue.utf8)])
        return [pause] + mailCharges(to: address)
    }

    /// The rate limits that a mail with a link to continue on another device consumes, and a mail with a code unless a
    /// ticket was exchanged for it. All addresses of one ``EmailAddress/mailbox`` count as one address, except that
    /// addresses with a tag have a total of their own (``EmailAddress/mailboxAndTag``). All networks of one
    /// ``Network/site`` count as one network. The limits per network keep a stranger in one network from using up the
    /// total of the address.
    ///
    /// In a recovery, the limits count the exact address and not the mailbox. Otherwise strangers could use up the
    /// limits with other addresses of the mailbox. In a recovery, an address without an account gets no mail, so the
    /// owner would not get a ticket.
    func mailCharges(to address: EmailAddress) -> [Charge] {
        let isRecovery = flow.purpose == .recovery
        let mailbox = Array((isRecovery ? address.rawValue : address.mailbox).utf8)
        let total = isRecovery ? [mailbox] : address.mailboxAndTag
        return [
            charge(.mailsToAddressFromNetwork, of: [mailbox, network.site.prefix]),
            charge(.mailsToAddressFromNetworkPerDay, of: [mailbox, network.site.prefix]),
            charge(.mailsToAddress, of: total),
        ] + mailChargesForAnyAddress
    }

    /// The charge for an event about an address. Each purpose of a flow, such as recovery, has a count of its own.
    ///
    /// - Parameter subject: what has a count of its own: an address or a mailbox, alone or with further parts such as a
    ///   network.
    func charge(_ name: Limits.Name, of subject: [[UInt8]]) -> Charge {
        charge(named: name.rawValue, flow.limits[name], subject + flow.purpose.limitSubject)
    }

    /// The rate limits of mail to all addresses together: those of the client's network, and the one of the service.
    var mailChargesForAnyAddress: [Charge] { charges(.mailsFromNetwork, of: network) + [chargeForAll(.mails)] }

    /// The digests of a code, one for each key of the key ring; the database stores the first one. They depend on the
    /// draft, the address and the generation too, so that the code is valid only for these.
    func codeDigests(_ digits: String, of draft: ID<Draft>, address: EmailAddress, generation: Int) -> [[UInt8]] {
        keys.digests(
            Array("code".utf8),
            draft.bytes,
            Array(address.rawValue.utf8),
            Array("\(generation)".utf8),
            Array(digits.utf8)
        )
    }

    /// Returns a random code with this number of digits, each from 0 to 9 with the same probability.
    static func randomDigits(count: Int) -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
    }
}

extension FlowPurpose {
    /// Whether a code for the address can be correct, as SQL.
    fileprivate func codeCanBeCorrect(for address: EmailAddress) -> SQL {
        switch self {
        case .signup, .emailChange:
            "NOT EXISTS (SELECT FROM identifiers WHERE kind = 'email' AND value = \(address.rawValue))"
        case .recovery: "EXISTS (SELECT FROM \(Signups.recoverable(address)))"
        }
    }
}
