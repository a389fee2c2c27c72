import Accounts
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Reads JSON and form bodies of at most 64 KiB. Refuses every malformed body, and keeps secret values apart from the
/// others. For a form with files, this middleware checks only the header fields; ``Uploads`` reads the body later.
struct BodyReader: RouterMiddleware {
    static let maximumBytes = 65_536
    /// The maximum number of values in a body. No step has nearly as many fields, and parsing many small values is
    /// expensive.
    static let maximumValues = 1000
    /// The names of the members whose values are secret, such as passwords. Their text is never a `String`, because a
    /// `String` cannot be wiped.
    let secretMembers: Set<String>
    /// False if the body may be empty.
    var isRequired = true
    /// Whether the body may be a form with files. For a step without an image field, such a body is refused anyway.
    var takesFiles = false

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        try Self.refuseContentCoding(in: request.headers, accept: Self.types)
        var context = context
        if takesFiles, let step = context.step, let form = FormWithFiles(request.headers[.contentType], to: step) {
            // A browser gets this refusal later, on the page with the form.
            if let length = request.bodyLength, length > form.maximumBytes, context.representation == .json {
                throw Self.tooLarge(form.maximumBytes)
            }
            context.formWithFiles = form
        } else if let answers = try await answers(of: request, to: context.step) {
            context.answers = answers
        }
        return try await next(request, context)
    }

    private func answers(of request: Request, to step: Step?) async throws -> Answers? {
        let length = request.bodyLength
        if let length, length > Self.maximumBytes { throw Self.tooLarge(Self.maximumBytes) }
        let type = BodyType(request.headers[.contentType])
        if request.headers[.contentType] != nil, type == nil { throw Self.unsupported }
        let body = try await Self.read(request.body, of: length, upTo: Self.maximumBytes)
        if body.count == 0, !isRequired { return nil }
        guard let type else {
            throw body.count == 0
                ? Problem(.malformedRequest, "The body is empty. Send JSON or a form.") : Self.unsupported
        }
        let answers = try body.withBytes { (bytes) throws(MalformedBody) -> Answers? in
            switch type {
            case .json:
                return try Answers.readJSON(bytes, secretMembers: secretMembers, maximumValues: Self.maximumValues)
            case .form:
                let form = try Answers.readForm(
                    bytes,
                    secretNames: secretMembers,
                    repeatableNames: step?.repeatableNames ?? [],
                    maximumPairs: Self.maximumValues
                )
                return step?.answers(inForm: form) ?? form
            }
        }
        guard let answers else { throw Problem(.malformedRequest, "The body is not a JSON object.") }
        return answers
    }

    /// Copies the whole body into memory that is wiped after use, and wipes the buffers in which it arrived.
    ///
    /// - Parameters:
    ///   - length: the value of `Content-Length`; nil if the request has none.
    ///   - maximum: the maximum number of bytes of the body.
    static func read(_ body: RequestBody, of length: Int?, upTo maximum: Int) async throws -> GrowingSecret {
        let start = ContinuousClock.now
        var secret = GrowingSecret(capacity: min(length ?? 4096, maximum))
        var chunks = 0
        do {
            for try await chunk in body {
                chunks += 1
                if secret.count + chunk.readableBytes > maximum { throw tooLarge(maximum) }
                if chunks > chunkAllowance + secret.count / minimumAverageLength {
                    throw Problem(.malformedRequest, "The body has too many small chunks. Send larger chunks.")
                }
                chunk.withUnsafeReadableBytes { bytes in
                    guard let address = bytes.baseAddress else { return }
                    secret.append(bytes)
                    // The bytes may contain a password. It is safe to wipe them: the HTTP server has handed this slice
                    // of its buffer over and does not use it again.
                    explicit_bzero(UnsafeMutableRawPointer(mutating: address), bytes.count)
                }
            }
        } catch let error where !(error is Problem) && !(error is CancellationError) {
            // The client closed the connection, or the framing of the body is wrong.
            throw Problem(.malformedRequest, "The body is incomplete.")
        }
        Deadline.current?.extend(by: ContinuousClock.now - start)
        return secret
    }

    /// A body may have this many chunks, and one more for each ``minimumAverageLength`` bytes. The number is limited
    /// because even a short chunk costs time.
    private static let chunkAllowance = 2000
    private static let minimumAverageLength = 128

    private static let unsupported = Problem(
        .unsupportedMediaType,
        "The media type is not supported. Send application/json or application/x-www-form-urlencoded.",
        headers: [.accept: types]
    )
    private static let types = BodyType.allCases.map(\.rawValue).joined(separator: ", ")

    /// Throws if `Content-Encoding` names any coding but `identity`, because a small body could expand to any size.
    ///
    /// - Parameter types: the media types that the route accepts, for the field `Accept` of the answer.
    static func refuseContentCoding(in headers: HTTPFields, accept types: String) throws {
        let codings = headers[.contentEncoding]?.headerParts(separatedBy: ",") ?? []
        guard codings.allSatisfy({ ["", "identity"].contains($0.lowercased()) }) else {
            throw Problem(
                .unsupportedMediaType,
                "The Content-Encoding is not supported. Send the body without one.",
                headers: [.accept: types, .acceptEncoding: "identity"]
            )
        }
    }

    static func tooLarge(_ maximum: Int) -> Problem {
        Problem(.tooLarge, "The body is too large. Send at most \(maximum) bytes.")
    }
}

extension Flow {
    /// The names of the fields that take a password or its confirmation.
    var secretMembers: Set<String> {
        Set(fields.filter { $0.kind.takesSecret }.map(\.name.rawValue))
    }
}

extension Request {
    /// The value of `Content-Length` in bytes; nil if the request has none.
    var bodyLength: Int? { headers[.contentLength].flatMap { Int($0) } }
}
