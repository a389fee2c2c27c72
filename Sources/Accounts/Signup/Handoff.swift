internal import Foundation

package enum HandoffError: Error {
    /// The flow proves no address.
    case noAddress
    /// No address is proved yet.
    case addressNotProved(next: Step?)
    /// The previous link was mailed less than ``Signups/handoffPause`` ago, or a limit of mails is exceeded.
    case limited(LimitReached)
    /// The draft is not at the requested revision.
    case stale(Draft)
    case committed
    case find(FindError)
    /// The draft kept changing, or too many requests wait for it, or the deadline passed while this one waited.
    case contended
    case database(DatabaseError)
}

package enum ResumeError: Error {
    /// The link is invalid: it was used (the same client may use it again for a minute), replaced or withdrawn, has
    /// expired or was never sent, or its sign-up has ended or is committed.
    case invalidLink
    case limited(LimitReached)
    case find(FindError)
    /// The draft kept changing.
    case contended
    case database(DatabaseError)
}

/// Continues a sign-up on another device. A link, mailed to the proved address, moves the draft to a new token; the
/// previous device learns that the sign-up was continued elsewhere.
extension Signups {
    /// The lifetime of a link.
    package static let handoffLifetime = Duration.seconds(900)
    /// The minimum time between two links.
    package static let handoffPause = Duration.seconds(60)
    /// For this time after a client has opened a link, the same client can open the link again and gets the same token.
    /// The row in `handoffs` then has the hash of that token in place of the hash of the link.
    private static let repetitionTime = Duration.seconds(60)

    /// Mails a link to the proved address, and invalidates earlier links.
    ///
    /// - Parameter revision: the revision that the client requires, if any.
    package func handOff(_ draft: Draft, at revision: Int? = nil) async throws(HandoffError) {
        try await retryingInTurn(draft) { (draft) throws(HandoffError) -> Void? in
            if draft.account != nil { throw .committed }
            if let revision, revision != draft.revision { throw .stale(draft) }
            guard flow.provesAddress else { throw .noAddress }
            guard let address = provedAddress(of: draft) else {
                throw .addressNotProved(next: progress(of: draft).next)
            }
            return try await mailLink(to: address, of: draft) ? () : nil
        }
    }

    /// Moves the draft of the link to a new token. The previous token is then invalid, and so is the link, except for a
    /// repetition with the same opening.
    ///
    /// The draft loses its password and its authenticator app, because a stranger may have started the draft and asked
    /// for the link. Otherwise the owner of the address could finish a sign-up with credentials that the stranger has.
    ///
    /// - Parameter opening: identifies the client. For a minute, the same link with the same opening returns the same
    ///   token again, in case the client has lost the response. Nil if the client does not need a repetition.
    package func resume(
        _ link: Token<Draft>,
        openedBy opening: LinkOpening? = nil
    ) async throws(ResumeError) -> (draft: Draft, token: Token<Draft>) {
        let tokens = opening.map { link.afterLink(openedBy: $0, keys) } ?? [Token(for: link.id)]
        let token = tokens[0]
        for _ in 1...Self.maximumWriteAttempts {
            let found: Draft?
            do throws(FindError) { found = try await draft(of: link, or: tokens) } catch { throw .find(error) }
            guard let draft = found else {
                try await chargeInvalidLink()
                throw .invalidLink
            }
            if let given = tokens.first(where: { $0.hash == draft.tokenHash }) { return (draft, given) }
            do throws(ResumeError) {
                switch try await move(draft, of: link, to: token) {
                case .moved: break
                case .changed: continue
                case .invalidLink: throw .invalidLink
                case .tooLate: throw .database(.unavailable("the deadline of the request is too near"))
                }
            } catch {
                // If the new token finds the draft, the move took effect.
                guard case .database(.outcomeUnknown) = error, let draft = await draftIfReadable(token) else {
                    throw error
                }
                return (draft, token)
            }
            // The draft has moved, so the client should get the token even if the deadline is near. If this read fails,
            // the next read gives the reason.
            if let draft = await draftIfReadable(token) { return (draft, token) }
            do throws(FindError) { return (try await find(token), token) } catch { throw .find(error) }
        }
        throw .contended
    }

    /// Returns the address to which the link was mailed, with the whole domain and a masked local part; nil if the link
    /// is invalid. Changes nothing.
    package func maskedAddress(of link: Token<Draft>) async throws(FindError) -> String? {
        guard let draft = try await draft(of: link) else { return nil }
        return provedAddress(of: draft)?.maskedName
    }

    /// Reads the draft of a new token. Takes at most one second, and takes it even if the deadline of the request is
    /// nearer. Nil if there is no draft, or if the read fails.
    func draftIfReadable(_ token: Token<Draft>) async -> Draft? {
        try? await Deadline.verifying { try await self.find(token) }
    }

    /// Returns the values without credentials, and the step that is next without them.
    private func withoutCredentials(_ draft: Draft) -> (values: Values, step: String) {
        var context = validationContext(of: draft)
        for step in flow.steps {
            for field in step.fields where field.kind.isCredential && draft.values.contains(field.name) {
                context.values[field.name] = nil
                context.values.validFlow = nil
                // Otherwise a step without required fields would still count as answered.
                context.values.markEmptied(step.name)
            }
        }
        return (context.values, SignupProgress(of: context).step)
    }

    /// Counts an invalid link against the rate limit of new sign-ups, so that a client cannot try many links.
    private func chargeInvalidLink() async throws(ResumeError) {
        let charges = charges(.starts, of: network)
        let exceeded = try await converting(to: ResumeError.database) { () throws(DatabaseError) in
            try await consumeAlone(charges)
        }
        if let exceeded { throw .limited(exceeded) }
    }

    /// Finds the draft of the link; nil if the link is invalid.
    ///
    /// - Parameter tokens: the tokens that this opening of the link gives, one for each key. For a minute after the
    ///   link was opened, the draft is also found if its token is one of them.
    private func draft(of link: Token<Draft>, or tokens: [Token<Draft>] = []) async throws(FindError) -> Draft? {
        // Tries twice, because the draft may end, or the link may move it, between the read of its token and the read
        // of the draft.
        for _ in 1...2 {
            guard let tokenHash = try await tokenHash(of: link, or: tokens) else { return nil }
            do throws(FindError) { return try await find(link.id, tokenHash: tokenHash) } catch {
                switch error {
                case .ended, .unknown: continue
                case .unreadable, .database: throw error
                }
            }
        }
        return nil
    }

    /// Returns the hash of the present token of the draft; nil if the link is invalid.
    private func tokenHash(of link: Token<Draft>, or tokens: [Token<Draft>]) async throws(FindError) -> [UInt8]? {
        // `digest = token_hash` means that the link was opened: then `digest` is the hash of the new token. Otherwise
        // it is the hash of the link.
        let isValid: SQL = """
            CASE WHEN digest = token_hash THEN digest = ANY (\(ByteStrings(tokens.map(\.hash))))
                 ELSE digest = \(link.hash) END AND now() < expires_at
            """
        let tokenHash = try await converting(to: FindError.database) { () throws(DatabaseError) in
            try await database.read(
                """
                SELECT token_hash FROM drafts JOIN handoffs ON draft = id
                 WHERE id = \(link.id) AND \(isValid) AND account_id IS NULL
                """
            ).first?.decode([UInt8].self)
        }
        return tokenHash
    }

    /// Stores a new link and queues the mail with the link. Returns false if the draft changed in the meantime.
    private func mailLink(to address: EmailAddress, of draft: Draft) async throws(HandoffError) -> Bool {
        let link = Token(for: draft.id)
        let minutes = Self.handoffLifetime.seconds / 60
        let mail = outbox.seal(
            .init(to: address.rawValue, language: draft.language, code: (link.text, minutes)),
            from: network,
            at: draft.now
        )
        let pause = charge(.handoff, Limit(1, per: Self.handoffPause), [draft.id.bytes])
        let limits = [pause] + mailCharges(to: address)
        let isAllowed: SQL = "\(Self.flag("unchanged")) AND \(Self.isWithinLimits)"
        let insertLink: SQL = """
            INSERT INTO handoffs (draft, digest, mail, expires_at)
            SELECT \(draft.id), \(link.hash), \(mail.id), now() + make_interval(secs => \(Self.handoffLifetime.seconds))
             WHERE \(isAllowed)
            ON CONFLICT (draft) DO UPDATE
               SET digest = excluded.digest, mail = excluded.mail, expires_at = excluded.expires_at
            """
        let insertMail: SQL = """
            INSERT INTO outbox (id, draft, network, recipient, turn, template, sealed, useless_after)
            SELECT \(mail.id), draft, \(mail.networkDigest), \(mail.recipientDigest), mail_turn(\(mail.networkDigest)),
                   'handoff', \(mail.sealed), expires_at FROM handoffs
             WHERE draft = \(draft.id) AND mail = \(mail.id)
            """
        let (isMailed, exceeded) = try await converting(to: HandoffError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                lock(draft),
                "SELECT \(Self.setFlag("unchanged", exists(draft)))",
                consume(limits, when: Self.flag("unchanged")),
                Self.deleteWaiting("SELECT mail FROM handoffs WHERE draft = \(draft.id)", when: isAllowed),
                insertLink,
                insertMail
            )
            return (try rows[1].only.decode(String.self) == "true", try self.exceeded(limits, rows[2]))
        }
        if let exceeded { throw .limited(exceeded) }
        if isMailed { outbox.wakeSender() }
        return isMailed
    }

    private enum Move {
        case moved
        case invalidLink
        /// The draft changed in the meantime.
        case changed
        /// The deadline is less than about two seconds away, so the client might not learn the new token. The limits
        /// are consumed all the same.
        case tooLate
    }

    /// Gives the draft a new token. Removes the credentials from the values, and encrypts the values again, because
    /// they are bound to the token. Increases the revision, so that a concurrent write by the previous device fails.
    private func move(_ draft: Draft, of link: Token<Draft>, to token: Token<Draft>) async throws(ResumeError) -> Move {
        let limits = charges(.starts, of: network)
        let place = SealedPlace.draft(draft.id, tokenHash: token.hash, revision: draft.revision + 1)
        let (values, step) = withoutCredentials(draft)
        let sealed = keys.seal(values.sealable, for: place)
        let setCurrent: SQL = "SELECT \(Self.setFlag("current", exists(draft)))"
        // The statements after `setInTime` wait for no other transaction, so they end soon after this check.
        let end = Int(draft.now.timeIntervalSince1970.rounded(.down)) + Deadline.secondsLeft
        let isInTime: SQL = "\(Self.flag("current")) AND clock_timestamp() < to_timestamp(\(end))"
        let setInTime: SQL = "SELECT \(Self.setFlag("in_time", isInTime))"
        let isAllowed: SQL = "\(Self.flag("in_time")) AND \(Self.isWithinLimits)"
        let isValidLink: SQL = """
            \(isAllowed) AND EXISTS (SELECT FROM handoffs
                                     WHERE draft = \(draft.id) AND digest = \(link.hash)
                                       AND digest <> \(draft.tokenHash) AND now() < expires_at)
            """
        let storeReason: SQL = """
            INSERT INTO endings (token_hash, reason, until)
            SELECT token_hash, 'continued-elsewhere', ends_at + interval '1 day' FROM drafts
             WHERE id = \(draft.id) AND \(isValidLink)
            """
        let moveDraft: SQL = """
            UPDATE drafts
               SET token_hash = \(token.hash), revision = revision + 1, updated_at = now(), step = \(step),
                   sealed = \(sealed)
             WHERE id = \(draft.id) AND \(isValidLink) RETURNING 1
            """
        let (result, exceeded) = try await converting(to: ResumeError.database) {
            () throws(DatabaseError) -> (Move, LimitReached?) in
            let rows = try await database.transaction(
                lock(draft),
                setCurrent,
                consume(limits, when: Self.flag("current")),
                setInTime,
                storeReason,
                moveDraft,
                """
                UPDATE handoffs
                   SET digest = \(token.hash),
                       expires_at = now() + make_interval(secs => \(Self.repetitionTime.seconds))
                 WHERE draft = \(draft.id) AND digest = \(link.hash) AND \(isAllowed)
                   AND EXISTS (SELECT FROM drafts WHERE id = \(draft.id) AND token_hash = \(token.hash))
                """
            )
            let isCurrent = try rows[1].only.decode(String.self) == "true"
            let isInTime = try rows[3].only.decode(String.self) == "true"
            let result: Move =
                !isCurrent ? .changed : !isInTime ? .tooLate : rows[5].isEmpty ? .invalidLink : .moved
            return (result, try self.exceeded(limits, rows[2]))
        }
        if let exceeded { throw .limited(exceeded) }
        return result
    }
}
