import Accounts
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

extension Routes {
    /// The server for these routes, on plain HTTP/1.1. A proxy in front of it must terminate TLS.
    func server(within limits: ConnectionLimits = ConnectionLimits()) -> HTTPServerBuilder {
        let clients = ClientConnections(maximum: limits.connectionsOfClient, behind: proxies)
        return .http1(
            configuration: .init(
                additionalChannelHandlers: [
                    ConnectionGuard(limits: limits, clients: clients, shutdown: shutdown, refusal: refusal)
                ],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headerBytes,
                    maxHeaderListSize: limits.headerBytes,
                    maxHeaderFieldCount: limits.headerCount
                )
            )
        )
    }

    /// The complete answer to a request that does not reach the router. The connection is closed after it.
    @Sendable private func refusal(_ slug: Problem.Slug) -> (head: HTTPResponse, body: ByteBuffer) {
        let requestID = RequestLog.newRequestID()
        let detail =
            slug == .headersTooLarge
            ? "The header is too large. Send fewer or shorter header fields." : "The request is malformed."
        var (head, body) = Problem(slug, detail).parts(
            publicURL: publicURL,
            requestID: requestID,
            in: signups.flow.languages[0]
        )
        head.headerFields[.requestID] = requestID
        securityHeaders.add(to: &head.headerFields)
        head.headerFields[.connection] = "close"
        return (head, body)
    }
}
