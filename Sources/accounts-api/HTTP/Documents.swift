import Accounts
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// The documents that do not change while the server runs, each made on first use.
final class Documents: Sendable {
    private let documents = Mutex<[String: Document]>([:])

    func document(_ name: String, _ make: () -> JSON) -> Document {
        if let document = documents.withLock({ $0[name] }) { return document }
        let document = Document(make())
        documents.withLock { $0[name] = document }
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
    func response(to request: Request) -> Response {
        let cachedTags = request.headers[.ifNoneMatch]?.headerParts(separatedBy: ",") ?? []
        let isCached = cachedTags.contains { $0 == "*" || $0.trimmingPrefix("W/") == tag }
        return isCached
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
