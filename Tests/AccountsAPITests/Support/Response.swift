import Accounts
import HTTPTypes
import HummingbirdTesting
import NIOCore

/// A response of the service.
struct Response: Sendable {
    let status: Int
    let headers: HTTPFields
    let bytes: [UInt8]

    init(_ response: TestClient.Response) {
        status = response.status.code
        headers = response.headers
        bytes = response.body.map { Array($0.readableBytesView) } ?? []
    }

    init(_ response: TestResponse) {
        status = response.status.code
        headers = response.headers
        bytes = Array(response.body.readableBytesView)
    }

    var body: String { String(decoding: bytes, as: UTF8.self) }

    /// The body as JSON; null if it is not JSON.
    var json: JSON { (try? JSON.read(bytes)) ?? .null }

    var isPage: Bool { headers[.contentType]?.hasPrefix("text/html") == true }

    /// Whether the service asks the client to send the request again later.
    var isRefusedForNow: Bool { status == 503 && headers[.retryAfter] != nil }

    /// The last part of a problem's `type`, such as `no-session`; nil if the body is no problem.
    var slug: String? { json["type"]?.string?.split(separator: "/").last.map(String.init) }

    /// The refused fields with their codes, such as `email:bad_format`.
    var refusals: [String] {
        guard case .array(let errors)? = json["errors"] else { return [] }
        return errors.map { "\($0["field"]?.string ?? "?"):\($0["code"]?.string ?? "?")" }
    }

    var nextStep: String? { json["next"]?["step"]?.string }

    var missing: [String] { strings("missing") }

    /// The strings of the list in this member of the body; empty if there is no list.
    func strings(_ member: String) -> [String] {
        guard case .array(let items)? = json[member] else { return [] }
        return items.compactMap(\.string)
    }

    /// The states of a draft's steps, in the order of the flow.
    var states: [String] {
        guard case .array(let steps)? = json["steps"] else { return [] }
        return steps.compactMap { $0["state"]?.string }
    }
}
