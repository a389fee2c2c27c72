package import Foundation

/// The history of a draft: its times, its codes and its mails.
package struct DraftHistory: Sendable {
    package let createdAt, updatedAt: Date
    /// The latest code of each field, in the order of the flow.
    package let codes: [SentCode]
    /// The mails that the draft has caused, oldest first. Delivered mail is kept for a day, dead mail for 30 days.
    package let mails: [OutboxRow]
}

extension Operator {
    /// Returns the history of a draft of this operator's flow; nil if the draft has just been erased.
    package func history(of draft: Draft) async throws(DatabaseError) -> DraftHistory? {
        let row = try await database.read("SELECT created_at, updated_at FROM drafts WHERE id = \(draft.id)").first
        guard let (createdAt, updatedAt) = try row?.decode(Date.self, Date.self) else { return nil }
        return DraftHistory(
            createdAt: createdAt,
            updatedAt: updatedAt,
            codes: flow.fields.compactMap { $0.kind.sentCode($0, in: draft) },
            mails: try await mails(where: "draft = \(draft.id)")
        )
    }
}
