internal import Foundation

/// The order of a list of drafts.
package enum DraftOrder: String, CaseIterable, Sendable {
    /// The newest draft comes first.
    case created
    /// The draft that was changed last comes first.
    case updated
    /// The draft with the earliest end comes first, so expired drafts come before open ones. A committed draft ends
    /// when its token expires.
    case expires

    /// The order as SQL, over the columns of ``Operator/summary``. No two drafts have the same place in it.
    var columns: SQL {
        switch self {
        // The ids are ordered by time.
        case .created: "id DESC"
        case .updated: "updated_at DESC, id DESC"
        case .expires: "deadline, id"
        }
    }
}

/// The place of a draft in a list of drafts.
package struct DraftCursor: Sendable, CustomStringConvertible {
    /// The order of the list.
    package let order: DraftOrder
    private let draft: ID<Draft>
    /// The time by which the list is ordered, in microseconds since 1970; 0 if it is ordered by id.
    private let time: Int

    /// Reads the description of a cursor, such as `01a1fdb2-1117-7906-a197-83af84022e4d` or, for an order other than
    /// `created`, `updated/1784217600123456/01a1fdb2-1117-7906-a197-83af84022e4d`.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let last = parts.last, let draft = ID<Draft>(last) else { return nil }
        self.draft = draft
        if parts.count == 1 {
            (order, time) = (.created, 0)
        } else {
            guard parts.count == 3, let order = DraftOrder(rawValue: parts[0]), order != .created,
                let time = Int(parts[1])
            else { return nil }
            (self.order, self.time) = (order, time)
        }
    }

    init(_ draft: DraftSummary, in order: DraftOrder) {
        self.order = order
        self.draft = draft.id
        time =
            switch order {
            case .created: 0
            case .updated: draft.updatedAt.microseconds
            case .expires: draft.expiresAt.microseconds
            }
    }

    package var description: String { order == .created ? "\(draft)" : "\(order.rawValue)/\(time)/\(draft)" }

    /// A condition on the drafts that follow in the list.
    var condition: SQL {
        let time: SQL = "timestamptz 'epoch' + \(time) * interval '1 microsecond'"
        return switch order {
        case .created: "id < \(draft)"
        case .updated: "(updated_at, id) < (\(time), \(draft))"
        case .expires: "(deadline, id) > (\(time), \(draft))"
        }
    }
}

extension Date {
    /// The number of microseconds since 1970. PostgreSQL stores times with this precision.
    fileprivate var microseconds: Int { Int((timeIntervalSince1970 * 1_000_000).rounded()) }
}
