internal import Foundation

package enum HandoffError: Error {
    /// The flow asks for no proof of an address.
    case noAddress
    /// No address is proved yet.
    case locked(next: Step?)
    /// The last mail is too young, or there were too many.
    case limited(LimitReached)
    /// The draft is at another revision than the one asked for.
    case stale(Draft)
    case committed
    case find(FindError)
    /// The draft kept changing.
    case contended
    case database(DatabaseError)
}

package enum ResumeError: Error {
    /// The link was used, is too old, or was never sent.
    case expired
    case limited(LimitReached)
    case find(FindError)
    case database(DatabaseError)
}

/// The sign-up goes on on another device: whoever reads the mail of the proved address gets a link that moves the draft to
/// a token of their own, and the device before hears that it went on elsewhere.
extension Signups {
    /// How long a link is good.
    package static let handoffLifetime = Duration.seconds(900)
    /// The least time between two links.
    package static let handoffPause = Duration.seconds(60)

    /// Mails a link to the address that is proved. Links before it are worthless.
    ///
    /// - Parameter revision: the revision that the client saw, if it insists on it.
    package func handOff(_ draft: Draft, at revision: Int? = nil) async throws(HandoffError) {
        var draft = draft
        for _ in 0..<50 {
            if draft.account != nil { throw .committed }
            if let revision, revision != draft.revision { throw .stale(draft) }
            guard flow.fields.contains(where: { $0.kind is CodeField }) else { throw .noAddress }
            guard let address = provedAddress(of: draft) else { throw .locked(next: standing(of: draft).next) }
            if try await mailLink(to: address, of: draft) { return }
            do throws(FindError) { draft = try await reread(draft) } catch { throw .find(error) }
        }
        throw .contended
    }

    /// Moves the draft of the link to a new token. The one before it is worthless at once, and so is the link.
    package func resume(_ link: Token) async throws(ResumeError) -> (draft: Draft, token: Token) {
        let token = Token(for: link.draft)
        do throws(ResumeError) {
            guard try await move(link, to: token) else { throw .expired }
        } catch {
            // Whether it moved, the new token tells.
            guard case .database(.outcomeUnknown) = error, let draft = try? await find(token) else { throw error }
            return (draft, token)
        }
        do throws(FindError) { return (try await find(token), token) } catch { throw .find(error) }
    }

    /// Whose sign-up the link opens: the address that it was mailed to, masked. Nil where it opens nothing. Changes nothing.
    package func addressBehind(_ link: Token) async throws(FindError) -> String? {
        let tokenHash: [UInt8]?
        do throws(DatabaseError) {
            tokenHash = try await database.read(
                """
                SELECT token_hash FROM drafts JOIN handoffs ON draft = id
                 WHERE id = \(link.draft) AND digest = \(link.hash) AND now() < expires_at AND account_id IS NULL
                """
            ).first?.decode([UInt8].self)
        } catch {
            throw .database(error)
        }
        guard let tokenHash else { return nil }
        do throws(FindError) {
            return provedAddress(of: try await find(link.draft, tokenHash: tokenHash)).map(EmailField.masked)
        } catch {
            // It ended between the two looks.
            if case .ended = error { return nil }
            throw error
        }
    }

    /// Any address that this draft has proved; the identifying one before others.
    private func provedAddress(of draft: Draft) -> String? {
        let fields = flow.fields.filter(\.isIdentifier) + flow.fields
        for field in fields where field.kind is EmailField {
            if let code = flow.code(proving: field.name), draft.proofs[code.field.name]?.isProved == true {
                return draft.values[field.name]?.string
            }
        }
        return nil
    }

    /// False where the draft changed meanwhile.
    private func mailLink(to address: String, of draft: Draft) async throws(HandoffError) -> Bool {
        let link = Token(for: draft.id)
        let minutes = Self.handoffLifetime.seconds / 60
        let mail = outbox.seal(.init(to: address, language: draft.language, code: (link.text, minutes)))
        let pause = charge("handoff", Limit(1, per: Self.handoffPause), [draft.id.bytes])
        let charges = [pause] + mailCharges(to: address)
        let statement: SQL = """
            WITH current AS (SELECT id FROM \(table(of: draft.id)) WHERE \(isCurrent(draft))), \(refused(charges)),
            allowed AS (SELECT id FROM current WHERE NOT EXISTS (SELECT FROM refused)),
            useless AS (\(deleteWaiting("SELECT mail FROM handoffs JOIN allowed ON draft = allowed.id"))),
            handoff AS (
                INSERT INTO handoffs (draft, digest, mail, expires_at)
                SELECT id, \(link.hash), \(mail.id), now() + make_interval(secs => \(Self.handoffLifetime.seconds))
                  FROM allowed
                ON CONFLICT (draft) DO UPDATE
                   SET digest = excluded.digest, mail = excluded.mail, expires_at = excluded.expires_at
                RETURNING expires_at
            ), mailed AS (
                INSERT INTO outbox (id, template, sealed, useless_after)
                SELECT \(mail.id), 'handoff', \(mail.sealed), expires_at FROM handoff
            )
            SELECT EXISTS (SELECT FROM allowed), \([Charge].columns)
            """
        let row: (isMailed: Bool, number: Int?, wait: Int?)
        do throws(DatabaseError) {
            let lock: SQL = "SELECT 1 FROM \(table(of: draft.id)) WHERE id = \(draft.id) FOR UPDATE"
            row = try await database.transaction(lock, statement)[1].only.decode(Bool.self, Int?.self, Int?.self)
        } catch {
            throw .database(error)
        }
        if let reached = reached(charges, row.number, row.wait) { throw .limited(reached) }
        if row.isMailed { outbox.ring() }
        return row.isMailed
    }

    /// False where the link opens nothing. The revision moves too, so that what the device before was about to write finds
    /// it gone.
    private func move(_ link: Token, to token: Token) async throws(ResumeError) -> Bool {
        let charges = [charge(.starts, network.prefix)]
        let statement: SQL = """
            WITH current AS (SELECT), \(refused(charges)), linked AS (
                SELECT id, token_hash, drafts.ends_at FROM drafts JOIN handoffs ON draft = id
                 WHERE id = \(link.draft) AND digest = \(link.hash) AND now() < expires_at
                   AND account_id IS NULL AND now() < \(deadline) AND NOT EXISTS (SELECT FROM refused)
            ), moved AS (
                UPDATE drafts SET token_hash = \(token.hash), revision = revision + 1, updated_at = now()
                  FROM linked WHERE drafts.id = linked.id RETURNING drafts.id
            ), spent AS (
                DELETE FROM handoffs USING moved WHERE draft = moved.id
            ), remembered AS (
                INSERT INTO endings (token_hash, reason, until)
                SELECT token_hash, 'continued-elsewhere', ends_at + interval '1 day' FROM linked
            )
            SELECT EXISTS (SELECT FROM moved), \([Charge].columns)
            """
        let row: (isMoved: Bool, number: Int?, wait: Int?)
        do throws(DatabaseError) {
            let lock: SQL = "SELECT 1 FROM drafts WHERE id = \(link.draft) FOR UPDATE"
            row = try await database.transaction(lock, statement)[1].only.decode(Bool.self, Int?.self, Int?.self)
        } catch {
            throw .database(error)
        }
        if let reached = reached(charges, row.number, row.wait) { throw .limited(reached) }
        return row.isMoved
    }
}
