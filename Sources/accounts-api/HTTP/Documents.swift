import Accounts
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// The documents that do not change while the server runs, each made on first use.
final class Documents: Sendable {
    private let made = Mutex<[String: Document]>([:])

    func document(_ name: String, _ make: () -> JSON) -> Document {
        if let document = made.withLock({ $0[name] }) { return document }
        let document = Document(make())
        made.withLock { $0[name] = document }
        return document
    }
}

struct Document: Sendable {
    private let body: ByteBuffer
    private let tag: String

    fileprivate init(_ json: JSON) {
        body = ByteBuffer(bytes: json.bytes)
        tag = "\"\(json.digest)\""
    }

    /// The document with its entity tag, or 304 if the client has it already (RFC 9110 §13.1.2).
    func response(unlessHeldBy request: Request) -> Response {
        let held = request.headers[.ifNoneMatch]?.split(separator: ",").map { $0.trimmingWhitespace() } ?? []
        let isHeld = held.contains { $0 == "*" || $0.trimmingPrefix("W/") == tag }
        return isHeld
            ? Response(status: .notModified, headers: [.eTag: tag])
            : Response(
                status: .ok,
                headers: [
                    .eTag: tag, .contentType: "application/json; charset=utf-8",
                    .contentLength: "\(body.readableBytes)",
                ],
                body: ResponseBody(byteBuffer: body)
            )
    }
}
