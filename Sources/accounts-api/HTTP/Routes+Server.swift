import Accounts
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

extension Routes {
    /// The server for these routes, on plain HTTP/1.1. A proxy in front of it must terminate TLS.
    func server(within limits: ConnectionLimits = ConnectionLimits()) -> HTTPServerBuilder {
        let clients = ClientConnections(maximum: limits.connectionsOfClient, behind: proxies)
        let configuration = HTTP1Channel.Configuration(
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerBytes,
                maxHeaderListSize: limits.headerBytes,
                maxHeaderFieldCount: limits.headerCount
            )
        )
        return HTTPServerBuilder { [shutdown] responder in
            GuardedChannel(http: HTTP1Channel(responder: responder, configuration: configuration)) {
                ConnectionGuard(limits: limits, clients: clients, shutdown: shutdown, refusal: refusal)
            }
        }
    }

    /// The complete answer to a request that does not reach the router. The answer has `Connection: close`.
    @Sendable private func refusal(_ problem: Problem) -> (head: HTTPResponseHead, body: ByteBuffer) {
        let requestID = RequestLog.newRequestID()
        var (head, body) = problem.parts(
            publicURL: publicURL,
            requestID: requestID,
            in: signups.flow.languages[0]
        )
        head.headerFields[.requestID] = requestID
        securityHeaders.add(to: &head.headerFields)
        head.headerFields[.connection] = "close"
        return (HTTPResponseHead(head), body)
    }
}

/// The channel handlers of Hummingbird, with a ``ConnectionGuard`` between the HTTP parser and the handler that
/// converts the parsed requests to the types of HTTPTypes.
private struct GuardedChannel: ServerChildChannel {
    let http: HTTP1Channel
    let makeGuard: @Sendable () -> ConnectionGuard

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(makeGuard(), position: .after(parser))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}
