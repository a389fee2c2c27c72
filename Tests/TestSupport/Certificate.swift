internal import Foundation

extension MailCatcher.Certificate {
    /// OpenSSL has not made the certificate.
    private struct Failed: Error {}

    /// Lends a self-signed certificate, and removes it afterwards.
    ///
    /// - Parameter names: the names that it is for, as OpenSSL writes them.
    package static func with(
        names: String = "IP:127.0.0.1,IP:0.0.0.0",
        hasExpired: Bool = false,
        _ body: (MailCatcher.Certificate) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "certificate-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let request = folder.appending(path: "request.pem").path
        let pair = MailCatcher.Certificate(
            certificate: folder.appending(path: "cert.pem").path,
            key: folder.appending(path: "key.pem").path
        )
        try openssl(
            ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=test"]
                + ["-addext", "subjectAltName=\(names)", "-keyout", pair.key, "-out", request]
        )
        try openssl(
            ["x509", "-req", "-in", request, "-signkey", pair.key, "-copy_extensions", "copy"]
                + ["-days", hasExpired ? "-1" : "1", "-out", pair.certificate]
        )
        try await body(pair)
    }

    private static func openssl(_ arguments: [String]) throws {
        let openssl = Process()
        openssl.executableURL = URL(filePath: "/usr/bin/env")
        openssl.arguments = ["openssl"] + arguments
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        guard openssl.terminationStatus == 0 else { throw Failed() }
    }
}
