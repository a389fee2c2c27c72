import Accounts
import Foundation

/// The name and password of HTTP Basic (RFC 7617).
struct BasicCredentials {
    let name, password: String

    /// Returns nil if the value of `Authorization` is not a valid one of HTTP Basic.
    init?(_ header: String) {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic",
            let bytes = Data(base64Encoded: String(parts[1].trimmingWhitespace())),
            let pair = String(validating: bytes, as: UTF8.self), let colon = pair.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        name = String(pair[..<colon])
        password = String(pair[pair.utf8.index(after: colon)...])
    }
}

extension String {
    /// The text decoded as in `application/x-www-form-urlencoded`; nil if an escape is invalid.
    var formDecoded: String? { replacing("+", with: " ").removingPercentEncoding }
}
