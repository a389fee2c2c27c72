internal import Foundation

/// The obstacle that prevents this service from opening a session with a mail server. Each `reason` is one line, and
/// contains no e-mail addresses.
package enum SMTPObstacle: Hashable, Sendable {
    /// The name of the host cannot be resolved.
    case unknownHost
    case unreachable(reason: String)
    /// The server accepts the connection, but sends no greeting or closes the connection.
    case noGreeting
    /// The first reply of the server refuses this client.
    case greetingRefused(reason: String)
    /// The server offers no STARTTLS, and this service requires it.
    case noTLS
    case tlsFailed(reason: String)
    /// The certificate has expired, or is not valid yet.
    case certificateOutdated
    case certificateOfOtherName
    /// No authority that this machine knows has signed the certificate.
    case certificateUntrusted
    /// libcurl cannot read the file of the authorities that this machine knows, so it verifies no certificate.
    case authoritiesUnreadable
    case loginRefused(reason: String)
    /// The server offers no login, or none that libcurl knows.
    case loginNotOffered
    case other(reason: String)
}

extension SMTPServer {
    /// Opens a session, with a login if the URL has credentials, and sends no mail. Takes at most as long as
    /// ``SMTPMailer/connect()``. Returns the obstacle; nil if there is none.
    package func obstacle() async -> SMTPObstacle? { await obstacle(within: SMTPLimits()) }

    func obstacle(within limits: SMTPLimits) async -> SMTPObstacle? {
        await withCheckedContinuation { finished in
            _ = DedicatedThread(named: "smtp") {
                CurlHandle.block(SIGPIPE)
                let connection = SMTPConnection(to: self, within: limits)
                let obstacle = connection.obstacle(hasLogin: hasPassword)
                finished.resume(returning: obstacle)
            }
        }
    }
}
