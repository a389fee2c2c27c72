import Accounts
import HTTPTypes
import Hummingbird

extension Request {
    /// The revision that `If-Match` requires (RFC 9110 §13.1.1); nil if the header is absent or `*`. If the header
    /// lists the current revision of the draft, returns that one. Otherwise returns the first revision that the header
    /// lists, or -1 if it lists none, so that the act is refused, unless another request gives the draft that revision
    /// first. Throws if the header is malformed.
    func expectedRevision(of draft: Draft) throws -> Int? {
        guard let field = headers[.ifMatch] else { return nil }
        if field == "*" { return nil }
        let tags = field.headerParts(separatedBy: ",")
        let isTag: (Substring) -> Bool = { $0.count >= 2 && $0.hasPrefix("\"") && $0.hasSuffix("\"") }
        guard !tags.isEmpty, tags.allSatisfy({ isTag($0.trimmingPrefix("W/")) }) else {
            throw Problem(.malformedRequest, #"If-Match must be * or a list of entity tags, such as "4"."#)
        }
        // A weak tag is valid, but never matches in the strong comparison.
        let revisions = tags.filter(isTag).compactMap { Int($0.dropFirst().dropLast()) }
        return revisions.contains(draft.revision) ? draft.revision : revisions.first ?? -1
    }
}
