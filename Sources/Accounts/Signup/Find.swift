internal import Foundation

/// Why a token leads to no draft.
package enum FindError: Error {
    /// We never issued it, or have forgotten it.
    case unknown
    case ended(Ending)
    /// The draft was sealed with a key that is not in the ring.
    case unreadable(ID<Draft>)
    case database(DatabaseError)
}

package enum Ending: String, Sendable {
    case expired, cancelled, superseded
    case continuedElsewhere = "continued-elsewhere"
}

extension Signups {
    /// The draft that belongs to the token, open or committed.
    package func find(_ token: Token) async throws(FindError) -> Draft {
        try await find(token.draft, tokenHash: token.hash)
    }

    /// The same draft as it is now.
    func reread(_ draft: Draft) async throws(FindError) -> Draft {
        try await find(draft.id, tokenHash: draft.tokenHash)
    }

    func find(_ id: ID<Draft>, tokenHash: [UInt8]) async throws(FindError) -> Draft {
        guard let record = try await record(of: id, tokenHash) else { throw try await ending(of: id, tokenHash) }
        guard record.isAlive else { throw .ended(.expired) }
        return try draft(id, tokenHash, record)
    }

    private struct Record {
        let flow, locale, step: String
        let revision: Int
        let sealed: [UInt8]
        let account: ID<Account>?
        let updatedAt, now, expiresAt: Date
        let isAlive: Bool
        var proofs: [StoredProof]
    }

    private struct StoredProof {
        let field: FieldName
        let address: [UInt8]
        let generation, attempts, failures: Int
        let sentAt, expiresAt: Date
        let provedAt: Date?
    }

    private func record(of id: ID<Draft>, _ tokenHash: [UInt8]) async throws(FindError) -> Record? {
        do throws(FindError) {
            return try await record(of: id, tokenHash, in: table(of: id))
        } catch .database(.refused(let diagnosis)) where diagnosis.isUndefinedTable {
            days.forget(theDayOf: id)
            return try await record(of: id, tokenHash, in: table(of: id))
        }
    }

    private func record(
        of id: ID<Draft>,
        _ tokenHash: [UInt8],
        in table: SQL
    ) async throws(FindError) -> Record? {
        let select: SQL = """
            SELECT drafts.flow, locale, step, revision, sealed, account_id, updated_at, now(), deadline,
                   now() < deadline AS is_alive, field, address_digest, generation, attempts, failures, sent_at, expires_at, proved_at
              FROM \(table) LEFT JOIN proofs ON proofs.draft = drafts.id,
                   LATERAL (SELECT CASE WHEN account_id IS NULL THEN \(deadline) ELSE ends_at END AS deadline) AS life
             WHERE drafts.id = \(id) AND token_hash = \(tokenHash)
            """
        do throws(DatabaseError) {
            var record: Record?
            for row in try await database.read(select) {
                let (
                    flow, locale, step, revision, sealed, account, updatedAt, now, deadline, isAlive,
                    field, address, generation, attempts, failures, sentAt, expiresAt, provedAt
                ) = try row.decode(
                    String.self,
                    String.self,
                    String.self,
                    Int.self,
                    [UInt8].self,
                    ID<Account>?.self,
                    Date.self,
                    Date.self,
                    Date.self,
                    Bool.self,
                    String?.self,
                    [UInt8]?.self,
                    Int?.self,
                    Int?.self,
                    Int?.self,
                    Date?.self,
                    Date?.self,
                    Date?.self
                )
                record =
                    record
                    ?? Record(
                        flow: flow,
                        locale: locale,
                        step: step,
                        revision: revision,
                        sealed: sealed,
                        account: account,
                        updatedAt: updatedAt,
                        now: now,
                        expiresAt: deadline,
                        isAlive: isAlive,
                        proofs: []
                    )
                if let field, let address, let generation, let attempts, let failures, let sentAt, let expiresAt {
                    record!.proofs.append(
                        StoredProof(
                            field: FieldName(field),
                            address: address,
                            generation: generation,
                            attempts: attempts,
                            failures: failures,
                            sentAt: sentAt,
                            expiresAt: expiresAt,
                            provedAt: provedAt
                        )
                    )
                }
            }
            return record
        } catch {
            throw .database(error)
        }
    }

    private func draft(_ id: ID<Draft>, _ tokenHash: [UInt8], _ record: Record) throws(FindError) -> Draft {
        let isCommitted = record.account != nil
        guard let values = isCommitted ? Values() : open(record.sealed, of: id) else { throw .unreadable(id) }
        var proofs: [FieldName: Proof] = [:]
        for stored in record.proofs {
            guard let code = flow.field(named: stored.field)?.kind as? CodeField else { continue }
            let current = values[code.proves]?.string.map(addressDigests) ?? []
            proofs[stored.field] = Proof(
                generation: stored.generation,
                address: stored.address,
                attempts: stored.attempts,
                failures: stored.failures,
                sentAt: stored.sentAt,
                expiresAt: stored.expiresAt,
                provedAt: stored.provedAt,
                namesCurrentAddress: current.contains(stored.address)
            )
        }
        return Draft(
            id: id,
            flow: record.flow,
            // The flow may have ceased to speak the language in which the draft began.
            language: flow.languages.first { $0.rawValue == record.locale } ?? flow.languages[0],
            step: record.step,
            revision: record.revision,
            values: values,
            proofs: proofs,
            expiresAt: record.expiresAt,
            updatedAt: record.updatedAt,
            now: record.now,
            account: record.account,
            tokenHash: tokenHash,
            sealed: record.sealed
        )
    }

    func open(_ sealed: [UInt8], of id: ID<Draft>) -> Values? {
        guard let plaintext = try? keys.open(sealed, for: id.bytes) else { return nil }
        return Values(sealable: plaintext)
    }

    /// What became of a draft that is gone.
    ///
    /// Of one that expired nothing is kept: the id tells that it cannot live any more, and for how long that is to be said.
    private func ending(of id: ID<Draft>, _ tokenHash: [UInt8]) async throws(FindError) -> FindError {
        let select: SQL = "SELECT reason FROM endings WHERE token_hash = \(tokenHash) AND now() < until"
        do throws(DatabaseError) {
            guard let row = try await database.read(select).first else {
                let age = Duration.seconds(Date().timeIntervalSince(id.madeAt))
                return flow.idle <= age && age < flow.absolute + .seconds(86_400) ? .ended(.expired) : .unknown
            }
            return Ending(rawValue: try row.decode(String.self)).map(FindError.ended) ?? .unknown
        } catch {
            throw .database(error)
        }
    }
}

extension DatabaseError.Diagnosis {
    fileprivate var isUndefinedTable: Bool { sqlState == "42P01" }
}
