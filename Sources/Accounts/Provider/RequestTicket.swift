package import Foundation

/// A ticket is an encrypted authorization request in the URL of a page. A stranger can neither read nor make a ticket.
/// While the person signs in, the ticket keeps the request, and no row in the database is needed for it.
extension AuthorizationRequest {
    /// Returns the encrypted request, in characters of base64url.
    package func ticket(_ keys: KeyRing) -> String {
        let id = ID<AuthorizationRequest>()
        return (id.bytes + keys.seal(json.bytes, for: .request(id))).base64URL
    }

    /// Reads a ``ticket(_:)``. Returns nil for any other text, and if ``madeAt`` is at least an hour before or after
    /// `now`.
    package init?(ticket text: String, _ keys: KeyRing, at now: Date = Date()) {
        guard text.utf8.count < 8192, let bytes = [UInt8].fromBase64URL(text.utf8), bytes.count > 16
        else { return nil }
        let id = bytes.withUnsafeBytes { ID<AuthorizationRequest>(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
        guard let plaintext = try? keys.open(Array(bytes.dropFirst(16)), for: .request(id)),
            let json = try? JSON.read(plaintext), let request = AuthorizationRequest(json: json),
            abs(now.timeIntervalSince(request.madeAt)) < Self.lifetime
        else { return nil }
        self = request
    }
}

extension SealedPlace {
    static func request(_ id: ID<AuthorizationRequest>) -> SealedPlace {
        SealedPlace(table: "authorization_requests", row: id.bytes)
    }

    static func authorization(_ id: ID<Authorization>) -> SealedPlace {
        SealedPlace(table: "authorizations", row: id.bytes)
    }

    static func pushedRequest(_ id: ID<PushedRequest>) -> SealedPlace {
        SealedPlace(table: "pushed_requests", row: id.bytes)
    }
}
