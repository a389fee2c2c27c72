import Accounts
import Foundation
import Hummingbird

/// An address that is filled in on the first page of a sign-up or a recovery, or an address or a username that is
/// filled in on a page of the sign-in. It comes from the link to the page or from an application, so it is only shown:
/// nothing is stored, sent or looked up until the person sends the form.
struct AddressHint {
    let text: String

    /// The length of the longest address.
    private static let maximumBytes = 254

    init?(_ text: String) {
        guard (1...Self.maximumBytes).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: {
                [.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            })
        else { return nil }
        self.text = text
    }

    /// The text, percent-encoded for a query.
    var encoded: String { text.addingPercentEncoding(withAllowedCharacters: ReturnTarget.unreserved) ?? "" }

    /// - Parameter authorization: the request of an application. Its hint is used only if the query has none.
    init?(of request: Request, _ authorization: AuthorizationRequest? = nil) {
        let query = request.uri.queryParameters
        let named = ["login_hint", "email"].lazy.compactMap { query[$0[...]] }.first.map { String($0) }
        guard let hint = (named ?? authorization?.loginHint).flatMap({ AddressHint($0) }) else { return nil }
        self = hint
    }
}
