import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// An error as clients see it: `application/problem+json` (RFC 9457). Its `detail` never contains user input.
struct Problem: Error {
    let slug: Slug
    let detail: String
    var members: [JSON.Member] = []
    var headers: HTTPFields = [:]
    /// The name of the rate limit that is exceeded; nil if there is none. Also nil for the problem `rate-limited` of
    /// ``ClientLimit``, which limits how many requests are answered at the same time, not their rate.
    var limit: String?

    typealias Slug = ProblemKind

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

    func response(publicURL: String, requestID: String, in language: Language) -> Response {
        let (head, body) = parts(publicURL: publicURL, requestID: requestID, in: language)
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
    }

    func parts(
        publicURL: String,
        requestID: String,
        in language: Language
    ) -> (head: HTTPResponse, body: ByteBuffer) {
        let bytes = ByteBuffer(bytes: json(publicURL: publicURL, requestID: requestID, in: language).bytes)
        var fields: HTTPFields = [
            .contentType: Self.contentType, .contentLength: "\(bytes.readableBytes)",
        ]
        for field in headers { fields[field.name] = field.value }
        return (HTTPResponse(status: slug.status, headerFields: fields), bytes)
    }

    static let contentType = "application/problem+json"

    func json(publicURL: String, requestID: String, in language: Language) -> JSON {
        .object(
            [
                .init("type", .string("\(publicURL)/problems/\(slug.rawValue)")),
                .init("title", .string(language.messages.title(of: slug))),
                .init("status", .integer(slug.status.code)), .init("detail", .string(detail)),
                .init("request_id", .string(requestID)),
            ] + members + message(in: language)
        )
    }
}

extension Problem {
    /// The member `message`, a text for the person; empty if this kind of problem has no such member.
    private func message(in language: Language) -> [JSON.Member] {
        guard slug.members.contains("message"), let notice = notice(in: language) else { return [] }
        return [.init("message", .string(notice))]
    }
}

extension ProblemKind {
    var status: HTTPResponse.Status {
        switch self {
        case .malformedRequest: .badRequest
        case .noDraft, .noSession, .signInFailed, .codeRequired: .unauthorized
        case .forbiddenOrigin, .confirmationRequired: .forbidden
        case .unknownStep, .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .notAcceptable: .notAcceptable
        case .stepLocked, .incomplete, .alreadyCommitted, .identifierTaken, .factorRequired: .conflict
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
