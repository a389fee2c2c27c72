import Accounts
import Foundation

/// The name and password of HTTP Basic (RFC 7617): the decoded id and secret of an application. The header has each of
/// them encoded as in a form (RFC 6749 §2.3.1).
struct BasicCredentials {
    let name, password: String

    /// Returns nil if the value of `Authorization` is not valid for HTTP Basic.
    init?(_ header: String) {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic",
            let bytes = Data(base64Encoded: String(parts[1].trimmingWhitespace())),
            let pair = String(validating: bytes, as: UTF8.self), pair.isStreamSafe,
            let colon = pair.utf8.firstIndex(of: UInt8(ascii: ":")),
            let name = String(pair[..<colon]).formDecoded,
            let password = String(pair[pair.utf8.index(after: colon)...]).formDecoded,
            name.isStreamSafe, password.isStreamSafe
        else { return nil }
        (self.name, self.password) = (name, password)
    }
}

extension String {
    /// The text decoded as in `application/x-www-form-urlencoded`; nil if an escape is invalid, or if the result is not
    /// UTF-8.
    var formDecoded: String? { replacing("+", with: " ").removingPercentEncoding }
}
