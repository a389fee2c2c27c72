internal import Foundation

package enum HandoffError: Error {
    /// The flow proves no address.
    case noAddress
    /// No address is proved yet.
    case locked(next: Step?)
    /// The last mail was sent too recently, or too many mails were sent.
    case limited(LimitReached)
    /// The draft is not at the requested revision.
    case stale(Draft)
    case committed
    case find(FindError)
    /// The draft kept changing.
    case contended
    case database(DatabaseError)
}

package enum ResumeError: Error {
    /// The link was used, has expired, or was never sent.
    case expired
    case limited(LimitReached)
    case find(FindError)
    case database(DatabaseError)
}

/// Continues a sign-up on another device. A link, mailed to the proved address, moves the draft to a new token; the
/// previous device learns that the sign-up was continued elsewhere.
extension Signups {
    /// The lifetime of a link.
    package static let handoffLifetime = Duration.seconds(900)
    /// The minimum time between two links.
    package static let handoffPause = Duration.seconds(60)

    /// Mails a link to the proved address, and invalidates earlier links.
    ///
    /// - Parameter revision: the revision that the client requires, if any.
    package func handOff(_ draft: Draft, at revision: Int? = nil) async throws(HandoffError) {
        try await retryingInTurn(draft) { (draft) throws(HandoffError) -> Void? in
            if draft.account != nil { throw .committed }
            if let revision, revision != draft.revision { throw .stale(draft) }
            guard flow.provesAddress else { throw .noAddress }
            guard let address = provedAddress(of: draft) else { throw .locked(next: progress(of: draft).next) }
            return try await mailLink(to: address, of: draft) ? () : nil
        }
    }

    /// Moves the draft of the link to a new token. This invalidates the previous token and the link immediately.
    package func resume(_ link: Token) async throws(ResumeError) -> (draft: Draft, token: Token) {
        let token = Token(for: link.draft)
        do throws(ResumeError) {
            guard try await move(link, to: token) else { throw .expired }
        } catch {
            // If the new token finds the draft, the move took effect.
            guard case .database(.outcomeUnknown) = error, let draft = try? await find(token) else { throw error }
            return (draft, token)
        }
        do throws(FindError) { return (try await find(token), token) } catch { throw .find(error) }
    }

    /// The masked address to which the link was mailed; nil if the link is invalid. Changes nothing.
    package func maskedAddress(of link: Token) async throws(FindError) -> String? {
        let tokenHash = try await converting(to: FindError.database) { () throws(DatabaseError) in
            try await database.read(
                """
                SELECT token_hash FROM drafts JOIN handoffs ON draft = id
                 WHERE id = \(link.draft) AND digest = \(link.hash) AND now() < expires_at AND account_id IS NULL
                """
            ).first?.decode([UInt8].self)
        }
        guard let tokenHash else { return nil }
        do throws(FindError) {
            return provedAddress(of: try await find(link.draft, tokenHash: tokenHash))?.masked
        } catch {
            // The draft ended between the two reads.
            if case .ended = error { return nil }
            throw error
        }
    }

    /// Returns false if the draft changed in the meantime.
    private func mailLink(to address: EmailAddress, of draft: Draft) async throws(HandoffError) -> Bool {
        let link = Token(for: draft.id)
        let minutes = Self.handoffLifetime.seconds / 60
        let mail = outbox.seal(.init(to: address.rawValue, language: draft.language, code: (link.text, minutes)))
        let pause = charge("handoff", Limit(1, per: Self.handoffPause), [draft.id.bytes])
        let limits = [pause] + mailCharges(to: address)
        let isAllowed: SQL = "\(Self.flag("handoff")) AND \(Self.isWithinLimits)"
        let insertLink: SQL = """
            INSERT INTO handoffs (draft, digest, mail, expires_at)
            SELECT \(draft.id), \(link.hash), \(mail.id), now() + make_interval(secs => \(Self.handoffLifetime.seconds))
             WHERE \(isAllowed)
            ON CONFLICT (draft) DO UPDATE
               SET digest = excluded.digest, mail = excluded.mail, expires_at = excluded.expires_at
            """
        let insertMail: SQL = """
            INSERT INTO outbox (id, template, sealed, useless_after)
            SELECT \(mail.id), 'handoff', \(mail.sealed), expires_at FROM handoffs
             WHERE draft = \(draft.id) AND mail = \(mail.id)
            """
        let (isMailed, exceeded) = try await converting(to: HandoffError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                lock(draft),
                "SELECT \(Self.setFlag("handoff", exists(draft)))",
                consume(limits, when: Self.flag("handoff")),
                "\(Self.deleteWaiting("SELECT mail FROM handoffs WHERE draft = \(draft.id)")) AND \(isAllowed)",
                insertLink,
                insertMail
            )
            return (try rows[1].only.decode(String.self) == "true", try self.exceeded(limits, rows[2]))
        }
        if let exceeded { throw .limited(exceeded) }
        if isMailed { outbox.wakeSender() }
        return isMailed
    }

    /// Returns false if the link is invalid. Also increases the revision, so that a concurrent write by the previous
    /// device fails.
    private func move(_ link: Token, to token: Token) async throws(ResumeError) -> Bool {
        let limits = [charge(.starts, network.prefix)]
        // A server that cannot open the draft must not use up the link.
        let lock: SQL = """
            SELECT \(Self.setFlag("readable", keys.hasKey(of: "sealed"))) FROM drafts
             WHERE id = \(link.draft) AND account_id IS NULL FOR UPDATE
            """
        let isAllowed: SQL = "\(Self.flag("readable")) AND \(Self.isWithinLimits)"
        let isValidLink: SQL = """
            account_id IS NULL AND now() < \(deadline) AND \(isAllowed)
            AND EXISTS (SELECT FROM handoffs
                         WHERE draft = \(link.draft) AND digest = \(link.hash) AND now() < expires_at)
            """
        let storeReason: SQL = """
            INSERT INTO endings (token_hash, reason, until)
            SELECT token_hash, 'continued-elsewhere', ends_at + interval '1 day' FROM drafts
             WHERE id = \(link.draft) AND \(isValidLink)
            """
        let move: SQL = """
            UPDATE drafts SET token_hash = \(token.hash), revision = revision + 1, updated_at = now()
             WHERE id = \(link.draft) AND \(isValidLink) RETURNING 1
            """
        let (isMoved, isReadable, exceeded) = try await converting(to: ResumeError.database) {
            () throws(DatabaseError) in
            let rows = try await database.transaction(
                lock,
                consume(limits),
                storeReason,
                move,
                "DELETE FROM handoffs WHERE draft = \(link.draft) AND digest = \(link.hash) AND \(isAllowed)"
            )
            var isReadable = true
            if let draft = rows[0].first { isReadable = try draft.decode(String.self) == "true" }
            return (!rows[3].isEmpty, isReadable, try self.exceeded(limits, rows[1]))
        }
        if let exceeded { throw .limited(exceeded) }
        if !isReadable { throw .find(.unreadable(link.draft)) }
        return isMoved
    }
}
