import Foundation
import Synchronization
import TestSupport

/// A proxy that runs with its file in deploy/forward-auth, and an application that answers with the headers that it
/// gets about the person.
final class ForwardProxy: Sendable {
    enum Program: String, CaseIterable, Sendable {
        case nginx, haproxy

        /// The file in deploy/forward-auth.
        var file: String { self == .nginx ? "nginx.conf" : "haproxy.cfg" }
    }

    private let port: Int
    private let process: Mutex<Process>
    private let folder: URL

    /// - Parameter server: the port of the service.
    init(_ program: Program, before server: Int) throws {
        port = try Balancer.freePort()
        folder = FileManager.default.temporaryDirectory.appending(path: "proxy-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let shown = try Self.text(of: program.file)
            .replacing("127.0.0.1:8080", with: "127.0.0.1:\(server)")
            .replacing("127.0.0.1:8000", with: "127.0.0.1:\(port)")
        let main = folder.appending(path: program.file)
        let configuration = Self.configuration(of: program, shown, folder.path)
        try Data(configuration.utf8).write(to: main)
        if program == .haproxy {
            try Data(Self.patientScript().utf8).write(to: folder.appending(path: "accounts.lua"))
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/sbin/\(program.rawValue)")
        process.arguments =
            program == .nginx ? ["-c", main.path, "-p", folder.path, "-e", "stderr"] : ["-db", "-f", main.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = Mutex(process)
    }

    deinit {
        process.withLock { process in
            // The proxy inherits the signals that the tests block, so another signal may not end it.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// The text of a file in deploy/forward-auth.
    static func text(of file: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: "deploy/forward-auth/\(file)"), encoding: .utf8)
    }

    /// The script of HAProxy with another timeout: on a busy machine, the service may need longer for its answer than
    /// the script waits.
    private static func patientScript() throws -> String {
        let script = try text(of: "accounts.lua")
        let patient = script.replacing("timeout = 2500", with: "timeout = 300000")
        guard patient != script else { throw ServerProcess.Failure(description: "the script has another timeout") }
        return patient
    }

    private static func configuration(of program: Program, _ shown: String, _ folder: String) -> String {
        switch program {
        case .nginx:
            """
            daemon off;
            master_process off;
            pid \(folder)/pid;
            error_log stderr;
            events {}
            http {
                access_log off;
                client_body_temp_path \(folder)/body;
                proxy_temp_path \(folder)/proxy;
                fastcgi_temp_path \(folder)/fastcgi;
                uwsgi_temp_path \(folder)/uwsgi;
                scgi_temp_path \(folder)/scgi;
                \(shown.replacing("127.0.0.1:3000", with: "unix:\(folder)/application"))
                server {
                    listen unix:\(folder)/application;
                    large_client_header_buffers 4 32k;
                    location / {
                        return 200 "user=$http_remote_user email=$http_remote_email name=$http_remote_name identity=$http_x_identity cookie=$http_cookie end";
                    }
                }
            }
            """
        case .haproxy:
            shown.replacing("127.0.0.1:3000", with: "unix@\(folder)/application")
                .replacing("/etc/haproxy/accounts.lua", with: "\(folder)/accounts.lua") + """

                    frontend shown
                        bind unix@\(folder)/application
                        http-request return status 200 content-type text/plain lf-string "user=%[req.fhdr(remote-user)] email=%[req.fhdr(remote-email)] name=%[req.fhdr(remote-name)] identity=%[req.fhdr(x-identity)] cookie=%[req.fhdr(cookie)] end connection=%[req.fhdr(connection)] upgrade=%[req.fhdr(upgrade)] headers=%[req.hdr_names] "

                    """
        }
    }

    func waitUntilItListens() async throws {
        while (try? RawClient(port: port)) == nil {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Sends a request, and returns the whole response. Repeats the request while the proxy has no answer of the service,
    /// which refuses requests at their deadline, and on a busy machine any request may reach it.
    ///
    /// - Parameter attempts: the maximum number of requests.
    func send(
        _ line: String,
        _ headers: [String] = [],
        _ body: String = "",
        host: String = "app.example",
        attempts: Int = 10
    ) async throws -> String {
        let connection = headers.contains { $0.hasPrefix("Connection:") } ? [] : ["Connection: close"]
        let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
        let head = ["\(line) HTTP/1.1", "Host: \(host)"] + connection + headers + length
        let request = head.joined(separator: "\r\n") + "\r\n\r\n" + body
        var response = ""
        for _ in 1...attempts {
            try Task.checkCancellation()
            response = try await onThread { [port] in try RawClient(port: port).exchange(request) }
            if !response.contains(/HTTP\/1\.1 50[0234]/) { break }
        }
        return response
    }
}
