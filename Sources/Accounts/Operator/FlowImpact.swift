/// The effects on the unfinished sign-ups if the servers replace their flow, here called the old flow, by a new one.
package struct FlowImpact: Sendable {
    /// The sign-ups on which the new flow has the same effect.
    package struct Affected: Sendable {
        /// The number of these sign-ups.
        package fileprivate(set) var count = 0
        /// The ids of the newest of these sign-ups, newest first, but at most ``FlowImpact/maximumIDs``.
        package fileprivate(set) var ids: [ID<Draft>] = []

        /// Adds a sign-up that is older than the others.
        fileprivate mutating func add(_ id: ID<Draft>) {
            count += 1
            if ids.count < FlowImpact.maximumIDs { ids.append(id) }
        }
    }

    /// The maximum number of ids in ``Affected/ids``.
    package static let maximumIDs = 100

    /// The number of sign-ups that are neither committed nor expired under the old flow.
    package let drafts: Int
    /// The sign-ups that expire as soon as the new flow is used.
    package let ended: Affected
    /// The number of sign-ups whose answers were validated under both flows: the newest of the sign-ups that have not
    /// expired under the new flow.
    package let examined: Int
    /// The fields whose answers are valid under the old flow but not under the new one, each with the affected
    /// sign-ups.
    package let refused: [(field: String, drafts: Affected)]
    /// The steps that are the next step of sign-ups under the new flow, although they were complete or did not exist
    /// under the old flow. Each step has the affected sign-ups.
    package let reopened: [(step: String, drafts: Affected)]
}

extension Operator {
    /// Returns the effects on the sign-ups if `new` replaces the flow `old`. Changes nothing.
    ///
    /// - Parameter limit: the maximum number of sign-ups that are decrypted and validated.
    package func impact(
        of new: Flow,
        after old: Flow,
        limit: Int = 10_000
    ) async throws(DatabaseError) -> FlowImpact {
        let (before, after) = (signups.following(old), signups.following(new))
        let isAlive: SQL = "account_id IS NULL AND flow NOT LIKE '%/%' AND now() < \(before.deadline)"
        let rows = try await database.transaction(
            "SELECT count(*), count(*) FILTER (WHERE now() >= \(after.deadline)) FROM drafts WHERE \(isAlive)",
            """
            SELECT id, token_hash FROM drafts WHERE \(isAlive) AND now() < \(after.deadline)
             ORDER BY id DESC LIMIT \(limit)
            """,
            """
            SELECT id FROM drafts WHERE \(isAlive) AND now() >= \(after.deadline)
             ORDER BY id DESC LIMIT \(FlowImpact.maximumIDs)
            """
        )
        let (drafts, endedCount) = try rows[0].only.decode(Int.self, Int.self)
        var ended = FlowImpact.Affected(count: endedCount)
        for row in rows[2] { ended.ids.append(try row.decode(ID<Draft>.self)) }
        var examined = 0
        var (refused, reopened): ([String: FlowImpact.Affected], [String: FlowImpact.Affected]) = ([:], [:])
        for row in rows[1] {
            let (id, tokenHash) = try row.decode(ID<Draft>.self, [UInt8].self)
            // A draft that has ended or was committed meanwhile, or that no key decrypts, is not examined.
            guard let draft = try await before.unfinished(id, tokenHash),
                let changed = try await after.unfinished(id, tokenHash)
            else { continue }
            examined += 1
            let (context, other) = (before.validationContext(of: draft), after.validationContext(of: changed))
            for field in new.fields {
                guard let same = old.field(named: field.name), same.kind.holds(same.name, in: context),
                    other.values.contains(field.name), !field.kind.holds(field.name, in: other)
                else { continue }
                refused[field.name.rawValue, default: .init()].add(id)
            }
            let progress = before.progress(of: draft)
            if let next = after.progress(of: changed).next?.name, next != progress.next?.name,
                progress.states[next].map({ $0 == .complete }) ?? true
            {
                reopened[next.rawValue, default: .init()].add(id)
            }
        }
        return FlowImpact(
            drafts: drafts,
            ended: ended,
            examined: examined,
            refused: new.fields.compactMap { field in refused[field.name.rawValue].map { (field.name.rawValue, $0) } },
            reopened: new.steps.compactMap { step in reopened[step.name.rawValue].map { (step.name.rawValue, $0) } }
        )
    }
}

extension Signups {
    /// Returns the draft; nil if it has ended or is committed, or if no key decrypts it.
    fileprivate func unfinished(_ id: ID<Draft>, _ tokenHash: [UInt8]) async throws(DatabaseError) -> Draft? {
        do throws(FindError) {
            let draft = try await find(id, tokenHash: tokenHash)
            return draft.account == nil ? draft : nil
        } catch {
            if case .database(let error) = error { throw error }
            return nil
        }
    }
}
