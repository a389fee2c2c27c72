/// A reason to refuse the answer to one field: the field, the error code, and the parameters of the message.
package struct Refusal: Error, Hashable, Sendable {
    package let field: FieldName
    package let code: Code
    /// Values for the message, by name, such as `min` and `actual`.
    package let params: [String: JSON]

    package init(_ field: FieldName, _ code: Code, _ params: [String: JSON] = [:]) {
        self.field = field
        self.code = code
        self.params = params
    }

    /// The maximum number of unknown fields that the response to one request reports. Without it, the response to a
    /// request with only unknown fields would be about ten times as long as the request.
    package static let maximumUnknownFields = 32

    /// The error code of a refusal.
    package enum Code: String, CaseIterable, Hashable, Sendable {
        case required
        case unknownField = "unknown_field"
        case wrongType = "wrong_type"
        case tooShort = "too_short"
        case tooLong = "too_long"
        case badFormat = "bad_format"
        case badCharacters = "bad_characters"
        case common
        case containsIdentifier = "contains_identifier"
        case mismatch
        case taken
        case unchanged
        case reserved
        case notAccepted = "not_accepted"
        case notAllowed = "not_allowed"
        case impossibleDate = "impossible_date"
        case inFuture = "in_future"
        case tooYoung = "too_young"
        case tooOld = "too_old"
        case passwordWrong = "password_wrong"
        case codeWrong = "code_wrong"
        case codeExpired = "code_expired"
        case codeExhausted = "code_exhausted"
        case tooLarge = "too_large"
        case unsupportedImage = "unsupported_image"
    }
}
