import Accounts
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Watches one connection: closes it if a request takes too long to arrive, and replaces answers that the HTTP server
/// writes before a request reaches the router, so that they have the form of every other problem.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ConnectionLimits
    private let clients: ClientConnections
    private let shutdown: ShutdownSignal
    private let refusal: @Sendable (Problem.Slug) -> (head: HTTPResponse, body: ByteBuffer)
    /// The client for which this connection is counted.
    private var client: IPAddress?
    private var deadline: Scheduled<Void>?
    /// True from a header until the end of its body.
    private var isReading = false
    /// The number of requests without a complete answer.
    private var unanswered = 0
    private var hasOverflowed = false
    /// True if the current answer announces that it is the last one.
    private var isClosing = false
    /// True if further input on this connection is dropped (RFC 9112, §9.6).
    private var ignoresInput = false

    /// - Parameter refusal: makes the complete answer for a problem.
    init(
        limits: ConnectionLimits,
        clients: ClientConnections,
        shutdown: ShutdownSignal,
        refusal: @escaping @Sendable (Problem.Slug) -> (head: HTTPResponse, body: ByteBuffer)
    ) {
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
        if let client { clients.release(of: client) }
        client = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if ignoresInput { return }
        switch unwrapInboundIn(data) {
        case .head where isClosing || unanswered > 0 && shutdown.isUnderWay:
            // The previous answer announces that it is the last one.
            ignoresInput = true
            return
        case .head:
            isReading = true
            unanswered += 1
            close(in: limits.body, context)
        case .body: break
        case .end:
            isReading = false
            awaitNext(context)
            if isClosing, unanswered == 0 { return context.close(promise: nil) }
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        hasOverflowed = error as? HTTPParserError == .headerOverflow
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.headerFields[.requestID] == nil && head.status.kind != .informational:
            // Every answer of the router has a request id. This one has none, so it comes from the HTTP server itself.
            let answer = refusal(hasOverflowed ? .headersTooLarge : .malformedRequest)
            context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
            context.write(wrapOutboundOut(.body(answer.body)), promise: promise)
        case .end:
            unanswered = max(0, unanswered - 1)
            awaitNext(context)
            // Closing the connection while the client is still sending would lose the answer.
            if isClosing || ignoresInput, !isReading { return close(after: data, promise, context) }
            context.write(data, promise: promise)
        case .head(var head):
            if head.status.kind != .informational {
                if shutdown.isUnderWay { head.headerFields[.connection] = "close" }
                isClosing = head.headerFields[.connection] == "close"
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        }
    }

    /// Starts the deadline of the next header once both the body and the answer have ended; an answer may come before
    /// the end of the body. While the server works on a request there is no deadline.
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
