internal import Foundation

package enum RedeemError: Error {
    /// The ticket is unknown, was used or deleted, has expired, or cannot be used in this flow.
    case invalidTicket
    /// This server has no key that decrypts the address of the ticket. Another server of this service may have the key.
    case unreadable(ID<Ticket>)
    case limited(LimitReached)
    case find(FindError)
    case database(DatabaseError)
}

/// Strangers who cause mails to an address can use up its rate limits. Each mail with a code for a sign-up, a recovery
/// or a sign-in contains a ``Ticket``. Only the owner of the address can read the mail, and can exchange the ticket for
/// a code that does not count against these limits.
extension Signups {
    /// Exchanges the ticket for a new draft with the address of the ticket, and mails a code to that address. Neither
    /// the mail nor the guesses at the code count against the limits of the address that strangers can use up. Instead,
    /// the mail counts against ``mailsByTicket(to:)`` and, like any mail with a code, against the limits of the network
    /// and of the service. Other drafts do not change.
    package func redeem(
        _ ticket: Ticket,
        in language: Language
    ) async throws(RedeemError) -> (draft: Draft, token: Token<Draft>) {
        guard let (address, field) = try await holder(of: ticket), let (codeField, code) = flow.code(namedBy: field)
        else {
            let reached = try await converting(to: RedeemError.database) { () throws(DatabaseError) in
                try await consumeAlone(charges(.starts, of: network))
            }
            throw reached.map(RedeemError.limited) ?? .invalidTicket
        }
        var values = Values()
        values.fill(code.proves, with: address, in: flow)
        let token = Token<Draft>(for: ID())
        let draft = newDraft(with: values, in: language, token: token)
        do throws(RedeemError) {
            try await exchange(ticket, for: draft, codeField.name, code, address)
        } catch {
            // If the token finds the draft, the exchange took effect.
            guard case .database(.outcomeUnknown) = error, let draft = await draftIfReadable(token) else { throw error }
            return (draft, token)
        }
        outbox.wakeSender()
        funnel.started(at: draft.step, of: flow)
        if let draft = await draftIfReadable(token) { return (draft, token) }
        do throws(FindError) { return (try await find(token), token) } catch { throw .find(error) }
    }

    /// The address of the ticket, with the whole domain and a masked local part; nil if the ticket is invalid or
    /// belongs to a flow with another purpose. Changes nothing.
    package func maskedAddress(of ticket: Ticket) async throws(RedeemError) -> String? {
        guard let holder = try await holder(of: ticket), flow.purpose.owns(holder.field.rawValue) else { return nil }
        return holder.address.maskedName
    }

    /// The address to which the ticket was mailed, and the field whose code was in that mail, with
    /// ``FlowPurpose/prefix`` before its name; for a sign-in `session/code`. Nil if the ticket is invalid. Throws
    /// `unreadable` if the address cannot be decrypted.
    func holder(of ticket: Ticket) async throws(RedeemError) -> (address: EmailAddress, field: FieldName)? {
        let row = try await converting(to: RedeemError.database) { () throws(DatabaseError) in
            try await database.read("SELECT sealed, field FROM tickets WHERE \(Self.isValid(ticket))").first?
                .decode([UInt8].self, String.self)
        }
        guard let (sealed, field) = row else { return nil }
        guard let plaintext = try? keys.open(sealed, for: .ticket(ticket.id)),
            let address = EmailAddress(String(decoding: plaintext, as: UTF8.self))
        else { throw .unreadable(ticket.id) }
        return (address, FieldName(field))
    }

    /// Deletes the ticket, inserts the draft and queues the mail with the code, in one transaction. If two requests
    /// have the same ticket, the second waits for the first. If the first succeeds, the second finds no ticket and
    /// throws `invalidTicket`.
    private func exchange(
        _ ticket: Ticket,
        for draft: Draft,
        _ field: FieldName,
        _ code: CodeField,
        _ address: EmailAddress
    ) async throws(RedeemError) {
        let limits = charges(.starts, of: network) + mailChargesForAnyAddress + [mailsByTicket(to: address)]
        let (redeem, isRedeemed) = (redeem(ticket), Self.isRedeemed)
        let mail = codeStatements(
            field,
            code,
            address,
            after: nil,
            draft,
            when: isRedeemed,
            byTicket: true
        )
        let (wasValid, exceeded) = try await converting(to: RedeemError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [consume(limits), redeem, insert(draft, when: isRedeemed)] + mail
            )
            return (!rows[1].isEmpty, try self.exceeded(limits, rows[0]))
        }
        if let exceeded { throw .limited(exceeded) }
        if !wasValid { throw .invalidTicket }
    }

    /// The rate limit of mails that tickets cause: 30 a day to a mailbox, and another 30 to all its addresses with a
    /// tag (`name+tag@`) together. Only the readers of the mail have tickets, so other people cannot use up this limit.
    func mailsByTicket(to address: EmailAddress) -> Charge {
        charge(.mailsByTicket, Limit(30, per: .seconds(86_400)), address.mailboxAndTag)
    }

    /// A statement that deletes the ticket if it is valid and no rate limit was exceeded in the transaction. If it
    /// deletes the ticket, ``isRedeemed`` is true for the rest of the transaction.
    func redeem(_ ticket: Ticket) -> SQL {
        """
        DELETE FROM tickets WHERE \(Self.isValid(ticket)) AND \(Self.isWithinLimits)
        RETURNING \(Self.setFlag("redeemed", "true"))
        """
    }

    static let isRedeemed: SQL = flag("redeemed")

    private static func isValid(_ ticket: Ticket) -> SQL {
        "id = \(ticket.id) AND digest = \(ticket.digest) AND now() < expires_at"
    }
}

extension Flow {
    /// The code field that a ticket names. If the flow no longer has this field: the code field that proves the
    /// identifier, or else the first code field. Nil for a ticket of a flow with another purpose or of a sign-in, or if
    /// the flow has no code field.
    ///
    /// - Parameter prefixedName: the name of the field as the ticket has it, with ``FlowPurpose/prefix``.
    fileprivate func code(namedBy prefixedName: FieldName) -> (field: Field, kind: CodeField)? {
        guard purpose.owns(prefixedName.rawValue) else { return nil }
        let name = FieldName(String(prefixedName.rawValue.dropFirst(purpose.prefix.count)))
        let codes = fields.compactMap { field in (field.kind as? CodeField).map { (field: field, kind: $0) } }
        return codes.first { $0.field.name == name }
            ?? codes.first { field(named: $0.kind.proves)?.isIdentifier == true } ?? codes.first
    }
}

extension Values {
    /// Stores the address in the field. The step of the field counts as answered if it requires no other field.
    fileprivate mutating func fill(_ field: FieldName, with address: EmailAddress, in flow: Flow) {
        self[field] = address
        for step in flow.steps where step.field(named: field) != nil {
            if step.fields.allSatisfy({ $0.name == field || !$0.isRequired }) { answered.insert(step.name) }
        }
    }
}
