import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// The handler of the metrics, which are for monitoring and not for the public.
struct MetricsRoutes: Sendable {
    let monitor: Monitor

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("metrics") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: monitor.exposition()))
            )
        }
        return router
    }
}
