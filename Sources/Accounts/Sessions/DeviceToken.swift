internal import Crypto
internal import Foundation

/// Identifies a browser or program that has signed in to an account, or entered a code mailed to it, before. It gives
/// no rights: it only keeps wrong guesses of strangers from locking out the owner. It has 33 bytes, as 44 characters of
/// base64url.
package struct DeviceToken: Hashable, Sendable {
    private let bytes: [UInt8]

    package init() {
        bytes = [UInt8].random(count: Self.length)
    }

    /// - Parameter derived: 32 bytes that only the owner of the key ring can compute.
    init(derived: [UInt8]) {
        bytes = derived + [0]
    }

    /// Returns nil if the text cannot be a device token.
    package init?(_ text: String) {
        guard let bytes = [UInt8](base64URL: text, count: Self.length) else { return nil }
        self.bytes = bytes
    }

    /// The value of the cookie.
    package var text: String { bytes.base64URL }

    /// The SHA-256 hash of the token, which the database stores.
    var digest: [UInt8] { Array(SHA256.hash(data: bytes)) }

    /// The time for which a device is remembered after a sign-in, or another act that makes it known. It is the longest
    /// time for which browsers keep a cookie (RFC 6265bis §5.5).
    package static let lifetime = Duration.seconds(400 * 86_400)

    /// The maximum number of devices that one account remembers.
    static let maximum = 100

    private static let length = 33
}

extension Signups {
    /// Returns two statements. The first one stores the device for the account, and then returns a row. The second one
    /// keeps the ``DeviceToken/maximum`` devices that were made known most recently, and deletes the others. Without it,
    /// a client that always signs in as a new device would fill the table.
    ///
    /// - Parameter account: a subquery named `account` with the column `id`. If it has no row, the statements do
    ///   nothing.
    func remember(_ device: DeviceToken, of account: SQL) -> [SQL] {
        [
            """
            INSERT INTO devices (account, digest) SELECT id, \(device.digest) FROM \(account)
            ON CONFLICT (account, digest) DO UPDATE SET last_used_at = now()
            RETURNING 1
            """,
            """
            DELETE FROM devices USING \(account)
             WHERE devices.account = account.id AND digest IN (
                SELECT known.digest FROM devices AS known WHERE known.account = account.id
                 ORDER BY known.last_used_at DESC, known.digest OFFSET \(DeviceToken.maximum))
            """,
        ]
    }
}
