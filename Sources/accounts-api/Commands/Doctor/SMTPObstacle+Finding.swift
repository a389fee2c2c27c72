import Accounts

extension SMTPObstacle {
    /// The finding about a mail server with this obstacle.
    func finding(at server: SMTPServer) -> Finding {
        let (text, remedy) = explanation(server.url)
        return .wrong("mail", text, remedy)
    }

    /// - Parameter url: the URL of the server without credentials.
    private func explanation(_ url: String) -> (text: String, remedy: String) {
        switch self {
        case .unknownHost: ("the host of \(url) is unknown", "check SMTP_URL, and the DNS of this machine")
        case .unreachable(let reason):
            ("cannot connect to \(url): \(reason)", "check SMTP_URL, the firewall, and that the mail server runs")
        case .noGreeting:
            (
                "\(url) accepts the connection, but does not greet",
                "check the port and the scheme: smtps:// is for port 465, smtp:// for 587 and 25"
            )
        case .greetingRefused(let reason):
            ("\(url) refuses this machine: \(reason)", "let the mail server accept the address of this machine")
        case .noTLS:
            (
                "\(url) offers no TLS",
                "use a port for submission, 587 or 465, or add ?tls=optional if the network is trusted"
            )
        case .tlsFailed(let reason):
            (
                "\(url) fails to begin TLS: \(reason)",
                "check the port and the scheme, and that the mail server offers TLS 1.2 or newer"
            )
        case .certificateOutdated:
            (
                "the certificate of \(url) has expired, or is not valid yet",
                "renew it on the mail server, and check the clock of this machine"
            )
        case .certificateOfOtherName:
            (
                "the certificate of \(url) is for another name",
                "put a name of the certificate into SMTP_URL, or the host of SMTP_URL into the certificate"
            )
        case .certificateUntrusted:
            (
                "the certificate of \(url) is from an authority that this machine does not know",
                "install that authority on this machine, or ca-certificates if it is a public one"
            )
        case .authoritiesUnreadable:
            (
                "the certificate of \(url) cannot be verified, because the authorities of this machine cannot be read",
                "install ca-certificates, and let the user of this command read the files in /etc/ssl/certs"
            )
        case .loginRefused(let reason):
            (
                "\(url) refuses the login: \(reason)",
                "check the user and the password in SMTP_URL, and encode special characters, such as %40 for @"
            )
        case .loginNotOffered:
            (
                "\(url) offers no login, or none that this service knows",
                "use a port for submission, 587 or 465, or remove the login from SMTP_URL"
            )
        case .other(let reason):
            ("cannot open a session with \(url): \(reason)", "check SMTP_URL and the log of the mail server")
        }
    }
}
