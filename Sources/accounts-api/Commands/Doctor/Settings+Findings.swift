import Accounts
import Foundation

extension Settings {
    /// The findings about the settings: their risks, whether the server is behind a proxy that it trusts, and whether
    /// pages and mails say how to contact the service.
    var findings: [Finding] {
        let warnings = self.warnings.map { warning in
            let details = warning.metadata.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            return Finding.warning("settings", "\(warning.message) (\(details.joined(separator: ", ")))")
        }
        return (warnings.isEmpty ? [.ok("settings", "all are valid, and none takes a risk")] : warnings) + [
            proxies, contact,
        ]
    }

    private var proxies: Finding {
        guard self.publicURL.hasPrefix("https://") else {
            return .warning("proxies", "PUBLIC_URL is an http URL, which is for development", "set it to an https URL")
        }
        if self.trustedProxies.isEmpty {
            return .wrong(
                "proxies",
                "PUBLIC_URL is https, but TRUSTED_PROXIES is empty, so the rate limits count all clients as one",
                "set TRUSTED_PROXIES to the networks of the proxy that terminates TLS"
            )
        }
        return .ok("proxies", "\(self.publicURL), behind \(counted(self.trustedProxies.count, "trusted network"))")
    }

    private var contact: Finding {
        guard let url = self.brand?.url(of: .help) else {
            return .warning(
                "contact",
                "pages and mails do not say how to contact \(serviceName)",
                "set links.help in BRAND_FILE"
            )
        }
        return .ok("contact", url)
    }

    /// Checks the parts that the server needs besides the database: the mail server, libargon2, and the processes that
    /// read images.
    ///
    /// - Parameter recipient: the address to which a test mail is sent; nil to send no mail.
    func findingsOfParts(mailingTo recipient: EmailAddress?) async -> [Finding] {
        [await mail(to: recipient), argon2Library(), await imageProcesses()]
    }

    private func mail(to recipient: EmailAddress?) async -> Finding {
        guard let server = self.smtpURL.server else {
            return .warning(
                "mail",
                "mail is printed, not sent\(recipient == nil ? "" : "; no test mail was sent")",
                "set SMTP_URL before people sign up"
            )
        }
        if let obstacle = await server.obstacle() { return obstacle.finding(at: server) }
        let transport = server.requiresTLS ? "over TLS" : "over TLS if it offers that"
        let text = "the server answers, \(transport)\(server.hasPassword ? ", and accepts the login" : "")"
        guard let recipient else { return .ok("mail", text) }
        let mailer = SMTPMailer(to: server)
        let outcome: Finding
        do throws(MailError) {
            let reply = try await mailer.send(testMail(to: recipient))
            let accepted = "it accepted a mail from \(self.mailFrom)\(reply.map { ": \($0)" } ?? "")"
            outcome = .ok("mail", "\(text); \(accepted)")
        } catch .permanent(let reply, let reason) {
            let remedy = "check MAIL_FROM, and whether the mail server accepts mail from this address"
            outcome = .wrong("mail", "\(MailError.permanent(reply: reply, reason: reason).reason)", remedy)
        } catch {
            outcome = .wrong("mail", "\(error.reason)", "check the login in SMTP_URL, or try again later")
        }
        await mailer.shutdown()
        return outcome
    }

    private func testMail(to recipient: EmailAddress) throws(MailError) -> Mail {
        try Mail(
            from: self.mailFrom,
            fromName: self.serviceName,
            to: recipient.rawValue,
            subject: "Test mail",
            text:
                "This mail was sent by the command accounts-api doctor. The mail server accepts mail of this service.",
            id: UUID().text,
            date: Date()
        )
    }

    private func argon2Library() -> Finding {
        do { try Argon2.selfTest() } catch {
            return .wrong("argon2", "\(error)", "install another libargon2")
        }
        if Argon2.isForThisProcessor { return .ok("argon2", Argon2.library) }
        return .warning("argon2", "\(Argon2.library) is a generic build", "run scripts/argon2, which doubles its speed")
    }

    private func imageProcesses() async -> Finding {
        guard self.flow.fields.contains(where: \.kind.takesFile) else {
            return .ok("images", "the flow has no images")
        }
        let images = ImagePool(program: "/proc/self/exe", sandbox: self.imageSandbox, workers: 1)
        defer { images.shutdown() }
        guard let error = await images.trial() else {
            return self.imageSandbox == .required
                ? .ok("images", "an image was read in a process with a filter of system calls")
                : .warning("images", "an image was read, perhaps without a filter of system calls (IMAGE_SANDBOX)")
        }
        return .wrong("images", "images cannot be read: \(error)", "see docs/flow.md, \"Images\"")
    }
}
