import Accounts
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Reads bodies of JSON and of forms: at most 64 KiB, strictly, with secrets apart. The cheap checks come first, and all
/// of them before anybody asks the database.
struct BodyReader: RouterMiddleware {
    static let mostBytes = 65_536
    /// No step has nearly as many fields, and a body of nothing else would be dear to read.
    static let mostValues = 1000
    /// The members whose text is never a `String`: passwords and their confirmations.
    let secretMembers: Set<String>
    /// False where a request may come without a body.
    var isRequired = true

    func handle(
        _ request: Request,
        context: RequestScope,
        next: Next
    ) async throws -> Response {
        // That is read later, and otherwise.
        if context.upload != nil { return try await next(request, context) }
        var context = context
        if let answers = try await answers(of: request, to: context.step) {
            guard case .object = answers else { throw Problem(.malformedRequest, "The body is no object.") }
            context.answers = answers
        }
        return try await next(request, context)
    }

    private func answers(of request: Request, to step: Step?) async throws -> JSON? {
        let length = request.bodyLength
        if let length, length > Self.mostBytes { throw Self.tooLarge(Self.mostBytes) }
        let type = BodyType(request.headers[.contentType])
        if request.headers[.contentType] != nil, type == nil { throw Self.unsupported }
        let body = try await Self.read(request.body, of: length, most: Self.mostBytes)
        if body.count == 0, !isRequired { return nil }
        guard let type else {
            throw body.count == 0 ? Problem(.malformedRequest, "The body is empty.") : Self.unsupported
        }
        do throws(MalformedBody) {
            return try body.withBytes { (bytes) throws(MalformedBody) in
                switch type {
                case .json: return try JSON.read(bytes, secretMembers: secretMembers, mostValues: Self.mostValues)
                case .form:
                    let form = try JSON.readForm(
                        bytes,
                        secretMembers: secretMembers,
                        several: step?.severalFields ?? [],
                        mostValues: Self.mostValues
                    )
                    return step?.answers(inForm: form) ?? form
                }
            }
        } catch {
            throw Problem(.malformedRequest, "\(error)")
        }
    }

    /// The whole body in memory of our own, and wiped where it came from.
    ///
    /// - Parameter length: how long it says that it is.
    static func read(_ body: RequestBody, of length: Int?, most: Int) async throws -> GrowingSecret {
        var secret = GrowingSecret(capacity: min(length ?? 4096, most))
        var pieces = 0
        do {
            for try await chunk in body {
                pieces += 1
                if secret.count + chunk.readableBytes > most { throw tooLarge(most) }
                if pieces > mostPieces + secret.count / leastPiece {
                    throw Problem(.malformedRequest, "The body comes in too many pieces.")
                }
                chunk.withUnsafeReadableBytes { bytes in
                    guard let start = bytes.baseAddress else { return }
                    secret.append(bytes)
                    // The bytes may be a password, and this slice of the network's buffer has no other reader: its owner
                    // has handed it to us and moved past it.
                    explicit_bzero(UnsafeMutableRawPointer(mutating: start), bytes.count)
                }
            }
        } catch let error where !(error is Problem) && !(error is CancellationError) {
            // The client broke off, or framed it wrongly.
            throw Problem(.malformedRequest, "The body ends before its end.")
        }
        return secret
    }

    /// Each piece takes time, however short it is. So many may be as short as they like.
    private static let mostPieces = 2000
    private static let leastPiece = 128

    private static let unsupported = Problem(
        .unsupportedMediaType,
        "Send application/json, or a form.",
        headers: [.accept: BodyType.allCases.map(\.rawValue).joined(separator: ", ")]
    )

    static func tooLarge(_ most: Int) -> Problem { Problem(.tooLarge, "A body has at most \(most) bytes.") }
}

extension Flow {
    /// The fields whose text is never a `String`: passwords and their confirmations.
    var secretMembers: Set<String> {
        Set(fields.filter { $0.kind.takesSecret }.map(\.name.rawValue))
    }
}

extension Request {
    /// What it says of itself; nil where it comes in chunks.
    var bodyLength: Int? { headers[.contentLength].flatMap { Int($0) } }
}

/// How a body is written; both in UTF-8.
enum BodyType: String, CaseIterable {
    case json = "application/json"
    case form = "application/x-www-form-urlencoded"

    init?(_ contentType: String?) {
        guard let parts = contentType?.split(separator: ";").map({ $0.trimmingWhitespace().lowercased() }),
            let first = parts.first,
            parts.dropFirst().allSatisfy({ ["charset=utf-8", "charset=\"utf-8\""].contains($0) })
        else { return nil }
        self.init(rawValue: first)
    }
}

/// Answers only whoever takes an answer that there is.
struct Negotiator: RouterMiddleware {
    /// Whether there is a page beside the JSON.
    let hasPages: Bool

    func handle(
        _ request: Request,
        context: RequestScope,
        next: Next
    ) async throws -> Response {
        let wanted = Representation(accept: request.headers[.accept])
        guard wanted == .json || wanted == .page && (hasPages || Representation.takesJSON(request.headers[.accept]))
        else {
            throw Problem(.notAcceptable, "The answers are application/json\(hasPages ? " or text/html" : "").")
        }
        return try await next(request, context)
    }
}

/// Finds the step that the path names.
struct StepFinder: RouterMiddleware {
    let flow: Flow

    func handle(
        _ request: Request,
        context: RequestScope,
        next: Next
    ) async throws -> Response {
        guard let name = context.parameters.get("step"), let step = flow.step(named: StepName(name)) else {
            throw Problem(.unknownStep, "The flow has no such step.")
        }
        var context = context
        context.step = step
        return try await next(request, context)
    }
}
