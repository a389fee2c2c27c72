import Accounts
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// What a connection may take of the server before anybody looks at what it says (policy).
struct WireLimits: Sendable {
    /// All header fields of a request, and each of them, in bytes.
    var headerBytes = 16_384
    var headerCount = 100
    /// From the beginning of a connection to the end of its first header.
    var firstHeader: TimeAmount = .seconds(10)
    /// From one answer to the end of the next header.
    var nextHeader: TimeAmount = .seconds(60)
    /// From the end of a header to the end of its body.
    var body: TimeAmount = .seconds(30)
    /// Connections at once; more wait until one ends.
    var connections = 1000
}

/// Watches one connection: ends it where a request takes too long to arrive, and gives the answers that the server makes
/// by itself, before any route, the same form as all others.
final class Wire: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: WireLimits
    private let dress: @Sendable (Problem.Slug) -> (HTTPResponse, ByteBuffer)
    private var deadline: Scheduled<Void>?
    /// A header has come whose body has not ended.
    private var isReading = false
    /// Requests that have no whole answer yet.
    private var unanswered = 0
    private var hasOverflowed = false

    /// - Parameter dress: makes the whole answer out of a problem.
    init(limits: WireLimits, dress: @escaping @Sendable (Problem.Slug) -> (HTTPResponse, ByteBuffer)) {
        self.limits = limits
        self.dress = dress
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { endConnection(in: limits.firstHeader, context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        endConnection(in: limits.firstHeader, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isReading = true
            unanswered += 1
            endConnection(in: limits.body, context)
        case .body: break
        case .end:
            isReading = false
            awaitNext(context)
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
            let (dressed, body) = dress(hasOverflowed ? .headersTooLarge : .malformedRequest)
            context.write(wrapOutboundOut(.head(dressed)), promise: nil)
            context.write(wrapOutboundOut(.body(body)), promise: promise)
        case .end:
            unanswered = max(0, unanswered - 1)
            awaitNext(context)
            context.write(data, promise: promise)
        case .head, .body: context.write(data, promise: promise)
        }
    }

    /// An answer may come before the body has ended, so both have to be over before the next header is waited for. What
    /// the server does with a request takes as long as it takes.
    private func awaitNext(_ context: ChannelHandlerContext) {
        if isReading { return }
        if unanswered > 0 { deadline?.cancel() } else { endConnection(in: limits.nextHeader, context) }
    }

    private func endConnection(in time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
