internal import Foundation

/// Measures the processor time of the server for a refused request, without that of the database. Refusals must be
/// cheap, so that bad requests do not keep the server busy.
enum RefusedRequests {
    private static let count = 1000
    private static let target = Duration.milliseconds(1)

    private struct Kind {
        let name: String
        let status: Int
        let method: String
        let path: String
        var body: String?
        var headers: [String: String] = [:]
    }

    static func measure() throws {
        let service = try Service()
        let token = ["Authorization": "Bearer \(try service.start(1))"]
        let other = ["Authorization": "Bearer \(String(repeating: "A", count: 64))"]
        let kinds = [
            Kind(name: "an unknown path", status: 404, method: "GET", path: "/nowhere"),
            Kind(name: "a method that is not allowed", status: 405, method: "PATCH", path: "/signup"),
            Kind(
                name: "an unsupported Accept header",
                status: 406,
                method: "GET",
                path: "/signup",
                headers: ["Accept": "text/css"]
            ),
            Kind(
                name: "a body that is too long",
                status: 413,
                method: "POST",
                path: "/signup",
                body: "",
                headers: ["Content-Length": "70000", "Connection": "close"]
            ),
            Kind(
                name: "an unsupported media type",
                status: 415,
                method: "POST",
                path: "/signup",
                body: "<a/>",
                headers: ["Content-Type": "text/xml"]
            ),
            Kind(
                name: "64 KiB of malformed JSON",
                status: 400,
                method: "POST",
                path: "/signup",
                body: #"{"locale":"\#(String(repeating: "a", count: 65_000))"#
            ),
            Kind(name: "64 KiB of members", status: 400, method: "POST", path: "/signup", body: unknownMembers),
            Kind(
                name: "another site",
                status: 403,
                method: "POST",
                path: "/signup",
                headers: ["Sec-Fetch-Site": "cross-site"]
            ),
            Kind(name: "no token", status: 401, method: "GET", path: "/signup"),
            Kind(
                name: "a malformed token",
                status: 401,
                method: "GET",
                path: "/signup",
                headers: ["Authorization": "Bearer none"]
            ),
            Kind(name: "an unknown token", status: 401, method: "GET", path: "/signup", headers: other),
            Kind(
                name: "an unknown step",
                status: 404,
                method: "PUT",
                path: "/signup/nowhere",
                body: "{}",
                headers: token
            ),
            Kind(
                name: "a step that is locked",
                status: 409,
                method: "PUT",
                path: "/signup/terms",
                body: #"{"terms":true}"#,
                headers: token
            ),
            Kind(
                name: "an invalid answer",
                status: 422,
                method: "PUT",
                path: "/signup/email",
                body: #"{"email":"no"}"#,
                headers: token
            ),
            Kind(
                name: "a locked password",
                status: 409,
                method: "PUT",
                path: "/signup/password",
                body: #"{"password":"\#(String(repeating: "a", count: 64_000))"}"#,
                headers: token
            ),
            Kind(name: "an early commit", status: 409, method: "POST", path: "/signup/commit", headers: token),
            Kind(
                name: "an unknown link",
                status: 422,
                method: "POST",
                path: "/signup/resume",
                body: #"{"code":"no"}"#
            ),
        ]
        var table = Table("refused", "status", "CPU µs")
        for kind in kinds {
            table.append(
                kind.name,
                "\(kind.status)",
                try cost(of: kind, service).text(in: .microseconds(1), target: target)
            )
        }
        // These starts use up the rate limit of one network.
        for _ in 0..<200 { _ = try? service.start(0) }
        let limited = Kind(
            name: "a start above the rate limit",
            status: 429,
            method: "POST",
            path: "/signup",
            headers: ["X-Forwarded-For": Service.address(0)]
        )
        table.append(limited.name, "429", try cost(of: limited, service).text(in: .microseconds(1), target: target))
        table.print(under: "Refused requests, \(count) of each kind; the target is 1 ms of processor time for each")
    }

    private static var unknownMembers: String {
        "{" + (0..<6000).map { #""m\#($0)":1"# }.joined(separator: ",") + "}"
    }

    private static func cost(of kind: Kind, _ service: Service) throws -> Duration {
        func request() throws {
            let response = try service.client.request(kind.method, kind.path, text: kind.body, kind.headers)
            guard response.status == kind.status else {
                throw Service.Failure(description: "\(kind.name): \(response.status) \(response.body)")
            }
        }
        try request()
        let before = try service.cpuTime()
        for _ in 0..<count { try request() }
        return try (service.cpuTime() - before) / count
    }
}
