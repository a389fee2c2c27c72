import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// The outermost middleware: every answer leaves through here, with its headers, its line in the log, and refusals as
/// problems. What nobody recognised is logged with the request's id, and answered without a word about the cause.
struct Edge: RouterMiddleware {
    let publicURL: String
    let pages: Pages
    /// Those that the flow speaks; the first where nobody asks for another.
    let languages: [Language]
    let proxies: Proxies
    let origins: Origins
    let shutdown: ShutdownSignal
    let meters: Meters

    func handle(
        _ request: Request,
        context: RequestScope,
        next: Next
    ) async throws -> Response {
        let start = ContinuousClock.now
        let requestID = Self.requestID(of: request)
        var context = context
        context.logger[metadataKey: "request_id"] = "\(requestID)"
        if let trace = Self.traceID(of: request) { context.logger[metadataKey: "trace_id"] = "\(trace)" }
        context.language = Language.negotiated(request.headers[.acceptLanguage], among: languages)
        context.representation = Representation(accept: request.headers[.accept]) ?? .json
        context.network = proxies.network(of: context.peer, request.headers)
        var response: Response
        do {
            if request.uri.string.utf8.count > Self.mostURIBytes {
                throw Problem(.uriTooLong, "A path has at most \(Self.mostURIBytes) bytes.")
            }
            response = origins.isPreflight(request) ? Origins.preflight : try await next(request, context)
        } catch {
            let problem = problem(for: error, context)
            response =
                context.representation == .page
                ? pages.response(to: problem, request, in: context.language)
                : problem.response(publicURL: publicURL, requestID: requestID, in: context.language)
        }
        harden(&response.headers, requestID)
        if shutdown.isUnderWay { response.headers[.connection] = "close" }
        origins.share(&response.headers, with: request.headers[.origin])
        let time = ContinuousClock.now - start
        let (method, route) = (Self.knownMethod(request.method), context.endpointPath ?? "none")
        meters.requests.record(time, method, route, "\(response.status.code)")
        if let draft = context.subject.draft { context.logger[metadataKey: "draft"] = "\(draft)" }
        context.logger.info(
            "request",
            metadata: [
                "method": "\(method)", "route": "\(route)", "status": .stringConvertible(response.status.code),
                "ms": .stringConvertible(time.milliseconds),
            ]
        )
        return response
    }

    private func problem(for error: any Error, _ context: RequestScope) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as any HTTPResponseError where error.status == .notFound:
            return Problem(.notFound, "No resource has this path.")
        case let error as any HTTPResponseError where error.status == .contentTooLarge:
            return Problem(.tooLarge, "The body is longer than it may be.")
        case let error as any HTTPResponseError where error.status.kind == .clientError:
            return Problem(.malformedRequest, "The request could not be read.")
        case is CancellationError:
            return Problem(
                .unavailable,
                "The request was given up.",
                headers: [.retryAfter: "1"]
            )
        default:
            context.logger.error("unrecognised error", metadata: ["error": "\(error)", "type": "\(type(of: error))"])
            return Problem(.internal, "The log has the cause, under the id of this request.")
        }
    }

    private func harden(_ headers: inout HTTPFields, _ requestID: String) {
        headers[.requestID] = requestID
        // What may be kept is the same for everybody.
        if headers[.cacheControl] == nil {
            headers[.cacheControl] = "no-store"
            headers[.vary] = headers[.vary].map { "\($0), \(Self.vary)" } ?? Self.vary
        }
        headers[.xContentTypeOptions] = "nosniff"
        headers[.referrerPolicy] = "no-referrer"
        headers[.contentSecurityPolicy] = headers[.contentSecurityPolicy] ?? Self.contentPolicy
        headers[.crossOriginOpenerPolicy] = "same-origin"
        headers[.permissionsPolicy] = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
        headers[.crossOriginResourcePolicy] = "same-origin"
        if publicURL.hasPrefix("https://") {
            headers[.strictTransportSecurity] = "max-age=63072000; includeSubDomains"
        }
    }

    /// What an answer may hang on beside the path.
    private static let vary = "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site"

    /// Of what is no page: nothing is loaded and nothing runs.
    private static let contentPolicy = "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

    /// The whole answer to a request that got no further than the connection; the client hears no more on it.
    @Sendable func answer(before problem: Problem.Slug) -> (head: HTTPResponse, body: ByteBuffer) {
        let requestID = ID<Request>().description
        let detail =
            problem == .headersTooLarge ? "Send fewer or shorter header fields." : "The request could not be read."
        let (head, body) = Problem(problem, detail).parts(publicURL: publicURL, requestID: requestID, in: languages[0])
        var response = head
        harden(&response.headerFields, requestID)
        response.headerFields[.connection] = "close"
        return (response, body)
    }

    private static let mostURIBytes = 8192

    /// The caller's id if it is one that can do no harm in a log, or a new one.
    private static func requestID(of request: Request) -> String {
        let isHarmless: (UInt8) -> Bool = { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
        if let given = request.headers[.requestID], (8...64).contains(given.utf8.count),
            given.utf8.allSatisfy(isHarmless)
        {
            return given
        }
        return ID<Request>().description
    }

    /// The trace that the request is part of (W3C Trace Context, §3.2): 32 digits of `traceparent`, not all of them zero.
    private static func traceID(of request: Request) -> Substring? {
        guard let parts = request.headers[.traceParent]?.split(separator: "-", omittingEmptySubsequences: false),
            parts.count >= 4, parts.prefix(4).map(\.utf8.count) == [2, 32, 16, 2], parts[0] != "ff",
            parts[0] != "00" || parts.count == 4,
            parts.prefix(4).allSatisfy({ $0.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        return parts[1]
    }

    /// A method is any word that a client likes to send; the log has room for the usual ones.
    private static func knownMethod(_ method: HTTPRequest.Method) -> String {
        let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .options, .patch]
        return known.contains(method) ? method.rawValue : "other"
    }
}

extension Duration {
    /// With one digit behind the point, for logs.
    fileprivate var milliseconds: Double {
        let (seconds, attoseconds) = components
        return ((Double(seconds) * 1000 + Double(attoseconds) / 1e15) * 10).rounded() / 10
    }
}
