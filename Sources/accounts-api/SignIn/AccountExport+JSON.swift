import Accounts

extension AccountExport {
    /// - Parameter current: the session of the client; nil for an operator.
    func json(current: ID<AccountSession>? = nil) -> JSON {
        [
            "exported_at": .string(now.timestamp), "account": Representations.account(account),
            "flow": .string(flow), "language": .string(language),
            "email_proved_at": emailProvedAt.map { .string($0.timestamp) } ?? .null,
            "factors": overview.factors, "consents": overview.consentList,
            "sessions": .array(sessions.map { $0.json(isCurrent: $0.id == current) }),
            "devices": .array(devices.map { ["last_used_at": .string($0.timestamp)] }),
            "left_addresses": .array(leftAddresses.map(\.json)), "photos": .array(photos.map(\.json)),
            "past_consents": .array(pastConsents.map(\.json)),
        ]
    }
}

extension LeftAddressEntry {
    fileprivate var json: JSON {
        [
            "address": address.map(JSON.string) ?? .null, "left_at": .string(leftAt.timestamp),
            "restorable_until": .string(restorableUntil.timestamp),
        ]
    }
}

extension PastConsent {
    fileprivate var json: JSON {
        guard case .object(let members) = consent.json else { preconditionFailure("a consent is an object") }
        return .object(members + [.init("ended_at", .string(endedAt.timestamp))])
    }
}

extension PhotoEntry {
    fileprivate var json: JSON {
        [
            "field": .string(field), "type": .string(type), "bytes": .integer(bytes),
            "href": .string("/account/photos/\(field)"),
        ]
    }
}
