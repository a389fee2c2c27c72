import Accounts
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Watches one connection. Closes it if the client has too many connections, if a request takes too long to arrive, and
/// if the client takes too long to read an answer. Also closes it after the answer to its last request, and after an
/// answer during the shutdown. Refuses requests without a valid `Host` (see `hasValidHost`), requests with a transfer
/// coding other than a single `chunked`, and requests whose header would take too long to compare. The HTTP server
/// itself answers some requests before they reach the router; this handler replaces those answers by problems.
///
/// It is the first handler after the HTTP parser, because later handlers see neither the HTTP version of a request nor
/// each of several `Host` fields.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Makes the complete answer for a problem.
    typealias Refusal = @Sendable (Problem) -> (head: HTTPResponseHead, body: ByteBuffer)

    private let limits: ConnectionLimits
    private let clients: ClientConnections
    private let shutdown: ShutdownSignal
    private let refusal: Refusal
    /// The address for which ``ClientConnections`` has permitted this connection; nil if it has not, or if the peer has
    /// no IP address.
    private var client: IPAddress?
    private var deadline: Scheduled<Void>?
    /// The deadline for the client to read what was written; nil while the channel is writable.
    private var answerDeadline: Scheduled<Void>?
    /// True from the end of a request's header to the end of its body.
    private var isReading = false
    /// The number of requests without a complete answer.
    private var unanswered = 0
    /// True if the latest request is the last one of this connection (RFC 9112, §9.3 and §9.6).
    private var hasLastRequest = false
    /// The method of the request that this handler refused; nil if there is none. That request is the last one of the
    /// connection, and does not reach the router.
    private var refusedMethod: HTTPMethod?
    /// The problem that replaces an answer of the HTTP server itself.
    private var problem = Problem(.malformedRequest, "The request is malformed.")
    /// True if this handler closes the connection after the current answer.
    private var isClosing = false
    /// True if further input on this connection is dropped (RFC 9112, §9.6).
    private var ignoresInput = false

    init(limits: ConnectionLimits, clients: ClientConnections, shutdown: ShutdownSignal, refusal: @escaping Refusal) {
        self.limits = limits
        self.clients = clients
        self.shutdown = shutdown
        self.refusal = refusal
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        close(in: limits.firstHeader, context)
        guard let address = context.remoteAddress?.ipAddress.flatMap({ IPAddress($0) }) else { return }
        if clients.acquire(for: address) { client = address } else { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        answerDeadline?.cancel()
        if let client { clients.release(of: client) }
        client = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if ignoresInput { return }
        switch unwrapInboundIn(data) {
        case .head where hasLastRequest || isClosing || unanswered > 0 && shutdown.isUnderWay:
            // An earlier request is the last one, or this handler closes the connection after the answer to it.
            ignoresInput = true
        case .head(let head):
            isReading = true
            unanswered += 1
            close(in: limits.body, context)
            receive(head, context)
        case .body:
            if !isDraining { context.fireChannelRead(data) }
        case .end:
            isReading = false
            awaitNext(context)
            if isClosing, unanswered == 0 { return context.close(promise: nil) }
            context.fireChannelRead(data)
        }
    }

    private func receive(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var head = head
        // After a request for another protocol, the HTTP parser reads no further request.
        hasLastRequest = !head.isKeepAlive || head.headers.contains(name: "Upgrade") || head.method == .CONNECT
        if let mistake = Self.mistake(in: head) {
            hasLastRequest = true
            refusedMethod = head.method
            problem = Problem(.malformedRequest, mistake)
            // The HTTP server answers every error of the parser with 400. The method `write` replaces that answer.
            return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
        }
        // Hummingbird also ends the connection after this request, but only if the value of `Connection` is `close`.
        if hasLastRequest { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private static func mistake(in head: HTTPRequestHead) -> String? {
        guard isStreamSafe(address: head.uri), head.headers.allSatisfy(\.value.isStreamSafe) else {
            return """
                The address or a header field has more than 30 combining marks in a row, or a long part of the address \
                is not UTF-8.
                """
        }
        if !head.hasValidHost { return "Host is missing, repeated or invalid. Send one Host: a name or address." }
        // The parser removes only the coding `chunked`, and would pass on a body with another one as if it had none.
        let codings = head.headers[canonicalForm: "Transfer-Encoding"]
        if codings.count > 1 || codings.contains(where: { $0.lowercased() != "chunked" }) {
            return "Transfer-Encoding must be chunked, once."
        }
        return nil
    }

    /// Checks each part without its escapes, because marks are escaped in a valid address. A part that is not UTF-8 is
    /// safe only if it is short, because the router decodes it in another way.
    private static func isStreamSafe(address: String) -> Bool {
        guard address.utf8.contains(UInt8(ascii: "%")) else { return address.isStreamSafe }
        return address.utf8.split { "?&=".utf8.contains($0) }
            .allSatisfy { Substring($0).removingPercentEncoding?.isStreamSafe ?? ($0.count <= 100) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if isDraining { context.read() }
    }

    /// Reads nothing after the last request. Otherwise the HTTP parser would keep everything that follows a request
    /// with `Upgrade` in memory until the answer is written.
    func read(context: ChannelHandlerContext) {
        if !hasLastRequest || isReading { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if ignoresInput { return }
        switch error as? HTTPParserError {
        case .closedConnection:
            // The client has sent data after its last request. That request may have no answer yet, so the error goes
            // no further.
            ignoresInput = true
            return
        case .headerOverflow:
            problem = Problem(.headersTooLarge, "The header is too large. Send fewer or shorter header fields.")
        default: break
        }
        context.fireErrorCaught(error)
    }

    /// If the client reads too slowly, the channel stops being writable, and the rest of the answer waits. The deadline
    /// of the next header does not run while an answer waits, so this starts the deadline of the answer.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        answerDeadline?.cancel()
        let channel = context.channel
        answerDeadline =
            channel.isWritable
            ? nil : context.eventLoop.scheduleTask(in: limits.answer) { channel.close(promise: nil) }
        context.fireChannelWritabilityChanged()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where (100..<200).contains(head.status.code):
            context.write(data, promise: promise)
        case .head(let head) where !head.headers.contains(name: HTTPField.Name.requestID.rawName):
            // Every answer of the router has a request id. This one has none, so it comes from the HTTP server itself.
            let answer = refusal(problem)
            // After an error of the parser, the HTTP server closes the connection, because the end of the request is
            // unknown. If this handler has refused the request, it closes the connection when the request has ended.
            isClosing = refusedMethod != nil
            let hasBody = refusedMethod != .HEAD
            context.write(wrapOutboundOut(.head(answer.head)), promise: hasBody ? nil : promise)
            if hasBody { context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: promise) }
        case .head(var head):
            isClosing = shutdown.isUnderWay || hasLastRequest && unanswered == 1
            if isClosing { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            unanswered = max(0, unanswered - 1)
            awaitNext(context)
            // Closing the connection while the client is still sending could lose the answer.
            if isClosing || ignoresInput && unanswered == 0, !isReading { return close(after: data, promise, context) }
            context.write(data, promise: promise)
            if isDraining { context.read() }
        }
    }

    /// True if no other handler reads the rest of the body. This handler reads and drops it, because a client that is
    /// still sending may not see the answer yet.
    private var isDraining: Bool { isReading && (refusedMethod != nil || isClosing && unanswered == 0) }

    /// Starts the deadline of the next header when both the body of the request and its answer have ended. The answer
    /// may end first. While the server works on a request, this deadline does not run.
    private func awaitNext(_ context: ChannelHandlerContext) {
        if isReading { return }
        if unanswered > 0 { deadline?.cancel() } else { close(in: limits.nextHeader, context) }
    }

    private func close(after end: NIOAny, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        let written = promise ?? context.eventLoop.makePromise()
        let channel = context.channel
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.write(end, promise: written)
    }

    private func close(in time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
