import Accounts
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import accounts_api

@Suite("Stopping while people sign up", .freshDatabase, .timeLimit(.minutes(30)))
struct RollingRestartTests {
    /// Signs up one person after the other until the flag is set, and returns how many. Throws if a response is missing
    /// or unexpected.
    private static func signUpPeople(
        _ number: Int,
        at port: Int,
        mails: Mails,
        until isStopped: borrowing Atomic<Bool>
    ) async throws -> Int {
        var people = 0
        while !isStopped.load(ordering: .relaxed) {
            people += 1
            let person = SignupClient("person-\(number)-\(people)@example.com", mails: mails)
            try await person.begin(at: port)
            for step in ["email", "code", "password", "profile", "contact", "terms"] {
                try await person.step(step, at: port)
            }
            try await person.createAccount(at: port)
        }
        return people
    }

    private final class StopFlag: Sendable {
        let isStopped = Atomic(false)
    }

    @Test func `a rolling restart behind a load balancer loses no request`() async throws {
        let mails = Mails()
        let ports = [try Balancer.freePort(), try Balancer.freePort()]
        func start(_ port: Int) async throws -> ServerProcess {
            try await ServerProcess.start(
                database: FreshDatabase.current.conninfo,
                settings: ["LISTEN": "127.0.0.1:\(port)", "SHUTDOWN_DELAY": "10"],
                mails: mails
            )
        }
        var servers = [try await start(ports[0]), try await start(ports[1])]
        let balancer = try Balancer(over: ports)
        try await balancer.waitForServers(2)
        let stop = StopFlag()
        let (people, restarts) = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<6 {
                group.addTask {
                    try await Self.signUpPeople(number, at: balancer.port, mails: mails, until: stop.isStopped)
                }
            }
            var restarts = 0
            for _ in 0..<2 {
                for index in servers.indices {
                    #expect(await servers[index].end(by: SIGTERM) == 0)
                    servers[index] = try await start(ports[index])
                    try await balancer.waitForServers(2)
                    restarts += 1
                }
            }
            stop.isStopped.store(true, ordering: .relaxed)
            return (try await group.reduce(0, +), restarts)
        }
        #expect(restarts == 4 && people >= 6)
        let session = try DatabaseSession()
        #expect(try session.query("SELECT count(*) FROM accounts").only.decode(Int.self) == people)
        let last = servers
        let statuses = try await atOnce(last.count) { await last[$0].end(by: SIGTERM) }
        #expect(statuses == [0, 0])
    }

    @Test func `a request that is pipelined after the last response of a connection is not executed`() async throws {
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["SHUTDOWN_DELAY": "3600"]
        )
        kill(server.pid, SIGTERM)
        try await server.waitUntilLogged(#""message":"stopping""#)
        let start = "POST /signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        let responses = try await RawClient.exchange(start + start + start, at: server.port)
        #expect(responses.matches(of: /HTTP\/1.1 201/).count == 1)
        let session = try DatabaseSession()
        #expect(try session.query("SELECT count(*) FROM drafts").only.decode(Int.self) == 1)
        #expect(await server.end(byRepeated: SIGTERM) == 143)
    }

    @Test func `a signal ends the program while it starts, also as process 1 of a container`() async throws {
        let session = try DatabaseSession()
        try session.run("BEGIN; LOCK TABLE migrations")
        let (started, program) = (Pipe(), ServerProcess.program.path)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        // The kernel delivers a signal to process 1 only if that process handles it. Here the program inherits from
        // the shell that it ignores the signals, so they also have an effect only if the program handles them.
        process.arguments = ["-c", "trap '' TERM INT; exec \(program) migrate"]
        process.environment = ["DATABASE_URL": FreshDatabase.current.conninfo]
        process.standardError = started
        try process.run()
        _ = try await DatabaseSession().waitUntilSomebodyIsBlocked()
        kill(process.processIdentifier, SIGTERM)
        let status = try await onThread { [process] in
            process.waitUntilExit()
            return process.terminationStatus
        }
        #expect(status == 143)
    }

    @Test func `an address that the server cannot listen on is reported with its setting`() async throws {
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        let error = await #expect(throws: ServerProcess.Failure.self) {
            try await ServerProcess.start(
                database: FreshDatabase.current.conninfo,
                settings: ["METRICS_LISTEN": "127.0.0.1:\(server.port)", "LISTEN": "192.0.2.1:80"]
            )
        }
        #expect(
            error?.description.contains("METRICS_LISTEN 127.0.0.1:\(server.port): another program has the port") == true
        )
        #expect(error?.description.contains("LISTEN 192.0.2.1:80") == true)
        await server.end(by: SIGTERM)
    }

    @Test func `after SIGTERM the server is not ready, but still serves and closes its connections`() async throws {
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["SHUTDOWN_DELAY": "3600"]
        )
        let held = try RawClient(port: server.port)
        let ready = try await untilServed({ (response: String) in RawClient.isRefusedForNow(response) }) {
            try held.send("GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
            return held.readResponse()
        }
        #expect(ready.contains("HTTP/1.1 200"))
        kill(server.pid, SIGTERM)
        try await server.waitUntilLogged(#""message":"stopping""#)

        let response = try held.exchange("GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(response.hasPrefix("HTTP/1.1 503") && response.lowercased().contains("connection: close"))
        let start = try await RawClient.exchange(
            "POST /signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
            at: server.port
        )
        #expect(start.hasPrefix("HTTP/1.1 201") && start.lowercased().contains("connection: close"))
        #expect(start.hasSuffix("}"), "the response is complete before the connection closes")
        #expect(
            try RawClient(port: server.port).exchange("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
                .hasPrefix("HTTP/1.1 200")
        )
        #expect(await server.end(byRepeated: SIGTERM) == 143, "a later signal ends the server at once")
    }
}
