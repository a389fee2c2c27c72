import Foundation
import Synchronization
import TestSupport

/// nginx with deploy/forward-auth/nginx.conf, and an application that shows what nginx tells it.
final class Nginx: Sendable {
    private let port: Int
    private let process: Mutex<Process>
    private let folder: URL

    /// - Parameter server: the port of the service.
    init(before server: Int) throws {
        port = try Balancer.freePort()
        folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let application = "unix:\(folder.path)/application"
        let file = Repository.root.appending(path: "deploy/forward-auth/nginx.conf")
        let shown = try String(contentsOf: file, encoding: .utf8).replacing(
            "127.0.0.1:8080",
            with: "127.0.0.1:\(server)"
        )
        .replacing("127.0.0.1:3000", with: application).replacing("127.0.0.1:8000", with: "127.0.0.1:\(port)")
        let configuration = """
            daemon off;
            master_process off;
            pid \(folder.path)/pid;
            error_log stderr;
            events {}
            http {
                access_log off;
                client_body_temp_path \(folder.path)/body;
                proxy_temp_path \(folder.path)/proxy;
                fastcgi_temp_path \(folder.path)/fastcgi;
                uwsgi_temp_path \(folder.path)/uwsgi;
                scgi_temp_path \(folder.path)/scgi;
                \(shown)
                server {
                    listen \(application);
                    location / {
                        return 200 "user=$http_remote_user email=$http_remote_email name=$http_remote_name identity=$http_x_identity cookie=$http_cookie ";
                    }
                }
            }
            """
        let main = folder.appending(path: "nginx.conf")
        try Data(configuration.utf8).write(to: main)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/sbin/nginx")
        process.arguments = ["-c", main.path, "-p", folder.path, "-e", "stderr"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = Mutex(process)
    }

    deinit {
        process.withLock { process in
            // The signals that the tests block stay blocked in nginx.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    func waitUntilItListens() async throws {
        while (try? RawClient(port: port)) == nil {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Sends a request to the host `app.example`, and returns the whole response.
    func send(_ line: String, _ headers: [String] = [], _ body: String = "") async throws -> String {
        let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
        let head = ["\(line) HTTP/1.1", "Host: app.example", "Connection: close"] + headers + length
        let request = head.joined(separator: "\r\n") + "\r\n\r\n" + body
        return try await onThread { [port] in try RawClient(port: port).exchange(request) }
    }
}
