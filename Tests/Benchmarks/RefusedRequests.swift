internal import Foundation

/// What a request costs that will be refused, in processor time of the server, database not counted: nobody should be
/// able to keep it busy with nothing.
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
            Kind(name: "no such path", status: 404, method: "GET", path: "/nowhere"),
            Kind(name: "a method that is not allowed", status: 405, method: "PATCH", path: "/signup"),
            Kind(
                name: "no type that we have",
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
                name: "a type that we do not read",
                status: 415,
                method: "POST",
                path: "/signup",
                body: "<a/>",
                headers: ["Content-Type": "text/xml"]
            ),
            Kind(
                name: "64 KiB that are no JSON",
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
                name: "a token that is none",
                status: 401,
                method: "GET",
                path: "/signup",
                headers: ["Authorization": "Bearer none"]
            ),
            Kind(name: "a token that was never issued", status: 401, method: "GET", path: "/signup", headers: other),
            Kind(name: "no such step", status: 404, method: "PUT", path: "/signup/nowhere", body: "{}", headers: token),
            Kind(
                name: "a step that is locked",
                status: 409,
                method: "PUT",
                path: "/signup/terms",
                body: #"{"terms":true}"#,
                headers: token
            ),
            Kind(
                name: "an answer that is none",
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
            Kind(name: "a commit of nothing", status: 409, method: "POST", path: "/signup/commit", headers: token),
            Kind(
                name: "a link that was never sent",
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
                try cost(of: kind, service).told(in: .microseconds(1), target: target)
            )
        }
        // One network begins more than it may.
        for _ in 0..<200 { _ = try? service.start(0) }
        let limited = Kind(
            name: "one too many",
            status: 429,
            method: "POST",
            path: "/signup",
            headers: ["X-Forwarded-For": Service.address(0)]
        )
        table.append(limited.name, "429", try cost(of: limited, service).told(in: .microseconds(1), target: target))
        table.print(under: "A request that is refused; \(count) of each kind, each within 1 ms of processor time")
    }

    private static var unknownMembers: String {
        "{" + (0..<6000).map { #""m\#($0)":1"# }.joined(separator: ",") + "}"
    }

    private static func cost(of kind: Kind, _ service: Service) throws -> Duration {
        func ask() throws {
            let answer = try service.client.ask(kind.method, kind.path, text: kind.body, kind.headers)
            guard answer.status == kind.status else {
                throw Service.Failure(description: "\(kind.name): \(answer.status) \(answer.body)")
            }
        }
        try ask()
        let before = try service.cpuTime()
        for _ in 0..<count { try ask() }
        return try (service.cpuTime() - before) / count
    }
}
