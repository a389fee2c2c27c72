import Accounts
import HTTPTypes
import Hummingbird

/// The parts of the request that every page depends on.
struct PageRequest: Sendable {
    /// The request that is being answered, if its client prefers a page to JSON; otherwise nil.
    @TaskLocal static var current: PageRequest?

    /// The path and query at which a browser gets the page again. For a POST, they are those of the page with the form,
    /// which `Referer` gives. Nil if they are unknown or not a ``PageAddress``.
    let address: String?
    /// Whether the request is a GET or HEAD, so that the same request gives the page again.
    let isRead: Bool

    init(_ request: Request) {
        isRead = [.get, .head].contains(request.method)
        // The referer of a form is usually a page of this service. The origin check refuses the forms of other sites,
        // except at the paths for applications and from the sites in `ALLOWED_ORIGINS`. The host of the referer is
        // dropped.
        let referer = request.headers[.referer]?.split(separator: "://", maxSplits: 1).last?.drop { $0 != "/" }
        let address = isRead ? Substring(request.uri.string) : referer
        self.address = address.flatMap { PageAddress(Self.withoutLanguage($0)) }?.text
    }

    /// The query of a link from the review to a step. The page of the step then leads back to the review.
    static let reviewMark = "review"

    /// Whether the person has come from the review to change an answer.
    var isFromReview: Bool { address?.hasSuffix("?\(Self.reviewMark)") == true }

    /// Returns the address without the parameters `locale` and `ui_locales`. They would take precedence over the
    /// language that the person then picks on the page.
    private static func withoutLanguage(_ address: Substring) -> String {
        let parts = address.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1)
        guard parts.count == 2 else { return parts.first.map(String.init) ?? "" }
        let kept = parts[1].split(separator: "&").filter { pair in
            !LanguageChoice.parameters.contains(String(pair.prefix { $0 != "=" }))
        }
        return kept.isEmpty ? String(parts[0]) : "\(parts[0])?\(kept.joined(separator: "&"))"
    }
}

/// The path and query of a page of this service. A redirect to it cannot lead to another site.
struct PageAddress {
    let text: String

    /// Returns nil unless the text begins with exactly one slash and has at most 8,192 characters, all printable ASCII
    /// except spaces and backslashes: browsers remove tabs and line breaks, and read a backslash as a slash.
    init?(_ text: String) {
        guard text.utf8.count <= 8192, text.hasPrefix("/"), !text.hasPrefix("//"),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        self.text = text
    }

    var path: String { String(text.prefix { $0 != "?" && $0 != "#" }) }
}
