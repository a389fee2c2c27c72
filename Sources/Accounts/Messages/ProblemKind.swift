/// The type of a problem. The raw value is the last part of its `type` (RFC 9457).
///
/// A new type also needs a title in `Messages/*.yaml`, a status in `HTTP/Problem.swift`, and its meaning and remedy in
/// `ProblemReference/ProblemKind+Explanation.swift`.
package enum ProblemKind: String, CaseIterable, Sendable {
    case malformedRequest = "malformed-request"
    case noDraft = "no-draft"
    case noSession = "no-session"
    case signInFailed = "sign-in-failed"
    case codeRequired = "code-required"
    case confirmationRequired = "confirmation-required"
    case factorRequired = "factor-required"
    case forbiddenOrigin = "forbidden-origin"
    case unknownStep = "unknown-step"
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case notAcceptable = "not-acceptable"
    case stepLocked = "step-locked"
    case incomplete
    case alreadyCommitted = "already-committed"
    case identifierTaken = "identifier-taken"
    case draftExpired = "draft-expired"
    case staleRevision = "stale-revision"
    case tooLarge = "too-large"
    case uriTooLong = "uri-too-long"
    case headersTooLarge = "headers-too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case validationFailed = "validation-failed"
    case rateLimited = "rate-limited"
    case busy
    case unavailable
    case `internal`
}
