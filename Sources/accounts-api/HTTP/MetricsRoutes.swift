import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of the listener for monitoring: the metrics, and the health check `live`. The public listener cannot
/// answer that check while clients use all of its connections.
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
        router.get("health/live") { _, _ in HealthRoutes.liveResponse }
        return router
    }
}
