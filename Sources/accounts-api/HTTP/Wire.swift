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
    /// Connections of one client network at once; more are hung up on.
    var connectionsOfClient = 50
}

/// How many connections each client network has. Those of trusted proxies are not counted, for they are many clients'.
final class Clients: Sendable {
    private let proxies: Proxies
    private let places: Places

    init(most: Int, behind proxies: Proxies) {
        self.proxies = proxies
        places = Places(ofClient: most)
    }

    /// False where the client has as many as it may. Each that was let in is let out again.
    func letIn(_ client: IPAddress) -> Bool {
        proxies.isTrusted(client) || places.take(for: Network(client))
    }

    func letOut(_ client: IPAddress) {
        if !proxies.isTrusted(client) { places.giveBack(of: Network(client)) }
    }
}

/// Watches one connection: ends it where a request takes too long to arrive, and gives the answers that the server makes
/// by itself, before any route, the same form as all others.
final class Wire: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: WireLimits
    private let clients: Clients
    /// Who was let in.
    private var client: IPAddress?
    private let dress: @Sendable (Problem.Slug) -> (HTTPResponse, ByteBuffer)
    private var deadline: Scheduled<Void>?
    /// A header has come whose body has not ended.
    private var isReading = false
    /// Requests that have no whole answer yet.
    private var unanswered = 0
    private var hasOverflowed = false
    /// The answer under way has said that it is the last.
    private var isClosing = false
    /// What still comes on this connection is nobody's business any more (RFC 9112, §9.6).
    private var isDeaf = false
    private let drain: Drain

    /// - Parameter dress: makes the whole answer out of a problem.
    init(
        limits: WireLimits,
        clients: Clients,
        drain: Drain,
        dress: @escaping @Sendable (Problem.Slug) -> (HTTPResponse, ByteBuffer)
    ) {
        self.limits = limits
        self.drain = drain
        self.clients = clients
        self.dress = dress
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        endConnection(in: limits.firstHeader, context)
        guard let address = context.remoteAddress?.ipAddress.flatMap({ IPAddress($0) }) else { return }
        if clients.letIn(address) { client = address } else { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        if let client { clients.letOut(client) }
        client = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isDeaf { return }
        switch unwrapInboundIn(data) {
        case .head where isClosing || unanswered > 0 && drain.isUnderWay:
            // The answer before says that it is the last.
            isDeaf = true
            return
        case .head:
            isReading = true
            unanswered += 1
            endConnection(in: limits.body, context)
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
            let (dressed, body) = dress(hasOverflowed ? .headersTooLarge : .malformedRequest)
            context.write(wrapOutboundOut(.head(dressed)), promise: nil)
            context.write(wrapOutboundOut(.body(body)), promise: promise)
        case .end:
            unanswered = max(0, unanswered - 1)
            awaitNext(context)
            // Not under a client that still sends: it would lose the answer with the connection.
            if isClosing || isDeaf, !isReading { return endConnection(after: data, promise, context) }
            context.write(data, promise: promise)
        case .head(let head):
            if head.status.kind != .informational { isClosing = head.headerFields[.connection] == "close" }
            context.write(data, promise: promise)
        case .body: context.write(data, promise: promise)
        }
    }

    /// An answer may come before the body has ended, so both have to be over before the next header is waited for. What
    /// the server does with a request takes as long as it takes.
    private func awaitNext(_ context: ChannelHandlerContext) {
        if isReading { return }
        if unanswered > 0 { deadline?.cancel() } else { endConnection(in: limits.nextHeader, context) }
    }

    private func endConnection(after end: NIOAny, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext)
    {
        let written = promise ?? context.eventLoop.makePromise()
        let channel = context.channel
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.write(end, promise: written)
    }

    private func endConnection(in time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
