import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// A refusal on the wire: `application/problem+json` (RFC 9457). Its text never quotes what a person typed.
struct Problem: Error {
    let slug: Slug
    let detail: String
    var members: [JSON.Member] = []
    var headers: HTTPFields = [:]

    /// The end of the problem's `type`; the title goes with it.
    enum Slug: String, CaseIterable {
        case malformedRequest = "malformed-request"
        case noDraft = "no-draft"
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

        var title: String {
            switch self {
            case .malformedRequest: "The request is malformed"
            case .noDraft: "There is no such sign-up"
            case .forbiddenOrigin: "The request comes from another site"
            case .unknownStep: "There is no such step"
            case .notFound: "There is nothing here"
            case .methodNotAllowed: "The method is not allowed here"
            case .notAcceptable: "No representation is acceptable"
            case .stepLocked: "An earlier step is missing"
            case .incomplete: "The sign-up is not complete"
            case .alreadyCommitted: "The sign-up is committed"
            case .identifierTaken: "The identifier belongs to another account"
            case .draftExpired: "The sign-up has ended"
            case .staleRevision: "The sign-up has changed"
            case .tooLarge: "The request is too large"
            case .uriTooLong: "The path is too long"
            case .headersTooLarge: "The header is too large"
            case .unsupportedMediaType: "The media type is not supported"
            case .validationFailed: "Some answers were refused"
            case .rateLimited: "Too many requests"
            case .busy: "The service is busy"
            case .unavailable: "The service is unavailable"
            case .internal: "Something went wrong"
            }
        }

        var status: HTTPResponse.Status {
            switch self {
            case .malformedRequest: .badRequest
            case .noDraft: .unauthorized
            case .forbiddenOrigin: .forbidden
            case .unknownStep, .notFound: .notFound
            case .methodNotAllowed: .methodNotAllowed
            case .notAcceptable: .notAcceptable
            case .stepLocked, .incomplete, .alreadyCommitted, .identifierTaken: .conflict
            case .draftExpired: .gone
            case .staleRevision: .preconditionFailed
            case .tooLarge: .contentTooLarge
            case .uriTooLong: .uriTooLong
            case .headersTooLarge: .requestHeaderFieldsTooLarge
            case .unsupportedMediaType: .unsupportedMediaType
            case .validationFailed: .unprocessableContent
            case .rateLimited: .tooManyRequests
            case .busy, .unavailable: .serviceUnavailable
            case .internal: .internalServerError
            }
        }
    }

    init(
        _ slug: Slug,
        _ detail: String,
        _ members: [JSON.Member] = [],
        headers: HTTPFields = [:]
    ) {
        self.slug = slug
        self.detail = detail
        self.members = members
        self.headers = headers
    }

    func response(publicURL: String, requestID: String) -> Response {
        let (head, body) = parts(publicURL: publicURL, requestID: requestID)
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
    }

    func parts(publicURL: String, requestID: String) -> (head: HTTPResponse, body: ByteBuffer) {
        let body = JSON.object(
            [
                .init("type", .string("\(publicURL)/problems/\(slug.rawValue)")), .init("title", .string(slug.title)),
                .init("status", .integer(slug.status.code)), .init("detail", .string(detail)),
                .init("request_id", .string(requestID)),
            ] + members
        )
        let bytes = ByteBuffer(bytes: body.bytes)
        var fields: HTTPFields = [
            .contentType: "application/problem+json", .contentLength: "\(bytes.readableBytes)",
        ]
        for field in headers { fields[field.name] = field.value }
        return (HTTPResponse(status: slug.status, headerFields: fields), bytes)
    }
}

extension Response {
    init(json: JSON, status: HTTPResponse.Status = .ok) {
        let body = ByteBuffer(bytes: json.bytes)
        self.init(
            status: status,
            headers: [.contentType: "application/json; charset=utf-8", .contentLength: "\(body.readableBytes)"],
            body: ResponseBody(byteBuffer: body)
        )
    }
}
