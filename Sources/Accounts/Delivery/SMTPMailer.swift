internal import CCurl
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Sends mail to one SMTP server, one mail at a time, over a connection that is reused. To send mails in parallel, use
/// several mailers.
///
/// libcurl blocks, so it runs on its own thread. `shutdown()` ends that thread; otherwise it runs until the process
/// ends.
package final class SMTPMailer: Mailer {
    private let queue: TaskQueue
    private let thread: DedicatedThread

    package convenience init(to server: SMTPServer) {
        self.init(to: server, limits: SMTPLimits())
    }

    init(to server: SMTPServer, limits: SMTPLimits) {
        let queue = TaskQueue()
        self.queue = queue
        thread = DedicatedThread(named: "smtp") {
            CurlHandle.block(SIGPIPE)
            SMTPConnection(to: server, within: limits).deliver(from: queue)
            queue.finish()
        }
    }

    /// Returns when the server has answered the command NOOP. The call first waits in the queue of the mailer. Then a
    /// connection takes at most 10 seconds, and 10 more if the server refuses the connection and does not answer QUIT.
    /// If the server replies 421, the mailer tries a second connection, which takes at most as long again. Every error
    /// is `temporary`.
    package func connect() async throws(MailError) {
        _ = try await withCheckedContinuation { queue.post(MailTask(mail: nil, continuation: $0)) }.get()
    }

    /// Returns when the server has accepted the mail. That takes at most 30 seconds after the mail has left the queue,
    /// or 40 if the server refuses the mail and then does not answer QUIT. At most 64 calls wait in the queue; further
    /// calls throw `temporary`.
    ///
    /// - Returns: the reply with which the server accepted the mail; nil if there is none.
    @discardableResult
    package func send(_ mail: Mail) async throws(MailError) -> String? {
        try await withCheckedContinuation { queue.post(MailTask(mail: mail, continuation: $0)) }.get()
    }

    /// Lets the current mail finish, refuses waiting mails as `temporary`, and ends the thread. That takes at most 40
    /// seconds: 30 for the mail and 10 for closing the connection. Call it once.
    package func shutdown() async {
        await queue.close()
        thread.join()
    }
}

/// A task for the thread: delivers `mail`, or only connects if it is nil. `continuation` resumes the caller with the
/// outcome.
private struct MailTask: Sendable {
    let mail: Mail?
    let continuation: CheckedContinuation<Result<String?, MailError>, Never>
}

/// The queue between the callers and the thread of the mailer, first in, first out.
private final class TaskQueue: Sendable {
    private struct Contents {
        var tasks: [MailTask] = []
        var isOpen = true
        var finished: CheckedContinuation<Void, Never>?

        mutating func add(_ queued: MailTask) -> MailError? {
            guard isOpen else { return .temporary(reply: nil, reason: "the mailer has shut down") }
            guard tasks.count < 64 else { return .temporary(reply: nil, reason: "too many mails are waiting") }
            tasks.append(queued)
            return nil
        }

        mutating func close(_ finished: CheckedContinuation<Void, Never>) -> [MailTask] {
            precondition(isOpen, "shut a mailer down only once")
            defer { tasks = [] }
            isOpen = false
            self.finished = finished
            return tasks
        }
    }

    private let contents = Mutex(Contents())
    private let posted = DispatchSemaphore(value: 0)

    func post(_ queued: MailTask) {
        if let refusal = contents.withLock({ $0.add(queued) }) {
            queued.continuation.resume(returning: .failure(refusal))
        } else {
            posted.signal()
        }
    }

    /// Waits for a task. Returns nil after the queue was closed. Only the thread of the mailer calls it.
    func next() -> MailTask? {
        posted.wait()
        return contents.withLock { $0.tasks.isEmpty ? nil : $0.tasks.removeFirst() }
    }

    /// Closes the queue, and returns when the thread has called `finish()`.
    func close() async {
        await withCheckedContinuation { finished in
            for queued in contents.withLock({ $0.close(finished) }) {
                queued.continuation.resume(
                    returning: .failure(.temporary(reply: nil, reason: "the mailer has shut down"))
                )
            }
            posted.signal()
        }
    }

    func finish() {
        contents.withLock { $0.finished.take() }?.resume()
    }
}

/// The timeouts after which a delivery has failed temporarily. All must be positive.
struct SMTPLimits: Sendable {
    /// The timeout for connecting, including name resolution, TLS, login, and the reply to NOOP.
    var connect: Duration = .seconds(10)
    /// The timeout for each reply, rounded up to whole seconds. It is the only timeout for the command QUIT, which
    /// closes the connection.
    var reply: Duration = .seconds(10)
    /// The timeout for a whole mail after it has left the queue.
    var mail: Duration = .seconds(30)
}

/// An SMTP server, and the credentials with which this service logs in to it.
package struct SMTPServer: Equatable, Sendable {
    /// Scheme, host and port, without the credentials.
    package let url: String
    let user: String?
    let password: String?
    /// Whether mail and credentials are sent only over TLS.
    package let requiresTLS: Bool
    package let isLoopback: Bool
    let caFile: String?

    package var hasPassword: Bool { password != nil }

    /// Parses a URL such as `smtp://user:password@host:587`, with percent-encoded credentials. Throws `permanent` if it
    /// is malformed; the error does not contain the URL.
    ///
    /// `smtps://` uses TLS from the first byte, whatever the query says; its default port is 465. `smtp://` uses
    /// STARTTLS if the server offers it; its default port is 587. `smtp://` requires STARTTLS if the host is not
    /// loopback, the URL has credentials, or the query is `?tls=required`, but never with `?tls=optional`. Certificates
    /// are always verified: against the authorities in `caFile` (PEM), which only tests pass, and otherwise against
    /// those of the system.
    package init(url text: String, caFile: String? = nil) throws(MailError) {
        func malformed(_ reason: String) -> MailError { .permanent(reply: nil, reason: "SMTP URL: \(reason)") }

        guard let url = URLComponents(string: text, encodingInvalidCharacters: false) else {
            throw malformed("not a valid URL")
        }
        guard let scheme = url.scheme?.lowercased(), ["smtp", "smtps"].contains(scheme) else {
            throw malformed("must begin with smtp:// or smtps://")
        }
        guard let host = url.encodedHost, !host.isEmpty, !host.contains("%") else {
            throw malformed("the host is missing or invalid")
        }
        let port = url.port ?? (scheme == "smtps" ? 465 : 587)
        guard (1...65535).contains(port) else { throw malformed("the port must be a number from 1 to 65535") }
        guard ["", "/"].contains(url.path), url.fragment == nil else {
            throw malformed("a path or fragment is not allowed")
        }
        guard [nil, "", "tls=required", "tls=optional"].contains(url.query) else {
            throw malformed("the only permitted queries are ?tls=required and ?tls=optional")
        }
        guard (url.user == nil) == (url.password == nil), url.user != "", url.password != "" else {
            throw malformed("pass both a user and a password, or neither")
        }
        guard !"\(url.user ?? "")\(url.password ?? "")".contains(where: { $0.isNewline || $0 == "\0" }) else {
            throw malformed("the credentials must not contain line breaks or NUL")
        }
        self.url = "\(scheme)://\(host):\(port)"
        user = url.user
        password = url.password
        isLoopback = IPAddress.isLoopback(host: host)
        requiresTLS =
            switch url.query {
            case _ where scheme == "smtps", "tls=required": true
            case "tls=optional": false
            default: !isLoopback || url.user != nil
            }
        self.caFile = caFile
    }
}

/// A libcurl handle for one server. It keeps the connection open between mails, and reconnects when needed.
struct SMTPConnection: ~Copyable {
    private let curl = CurlHandle()
    /// `CURLOPT_SERVER_RESPONSE_TIMEOUT`. Older headers define it only as a macro, which Swift does not import.
    private static let serverResponseTimeout = CURLoption(rawValue: 112)
    private let limits: SMTPLimits

    init(to server: SMTPServer, within limits: SMTPLimits) {
        self.limits = limits
        curl.set(CURLOPT_URL, server.url)
        // Ignore a proxy from the environment, which is meant for HTTP.
        curl.set(CURLOPT_PROXY, "")
        curl.set(CURLOPT_USE_SSL, Int((server.requiresTLS ? CURLUSESSL_ALL : CURLUSESSL_TRY).rawValue))
        curl.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        curl.set(CURLOPT_SSL_VERIFYPEER, 1)
        curl.set(CURLOPT_SSL_VERIFYHOST, 2)
        if let caFile = server.caFile { curl.set(CURLOPT_CAINFO, caFile) }
        if let user = server.user, let password = server.password {
            curl.set(CURLOPT_USERNAME, user)
            curl.set(CURLOPT_PASSWORD, password)
        }
        curl.set(CURLOPT_CONNECTTIMEOUT_MS, limits.connect.inWhole(.milliseconds(1)))
        curl.set(Self.serverResponseTimeout, limits.reply.inWhole(.seconds(1)))
        // Servers close idle connections, so libcurl must not reuse one after 60 idle seconds.
        curl.set(CURLOPT_MAXAGE_CONN, 60)
        curl.set(CURLOPT_NOSIGNAL, 1)
        // libcurl sends this command if there is no mail to send.
        curl.set(CURLOPT_CUSTOMREQUEST, "NOOP")
    }

    fileprivate consuming func deliver(from queue: TaskQueue) {
        while let queued = queue.next() {
            queued.continuation.resume(returning: queued.mail.map { deliver($0) } ?? connect())
        }
    }

    private borrowing func connect() -> Result<String?, MailError> {
        var replies = SMTPReplies()
        let status = openSession(&replies)
        return status == CURLE_OK ? .success(nil) : .failure(failure(status, replies))
    }

    /// Opens a session and sends NOOP, or only sends NOOP if a session is open.
    private borrowing func openSession(_ replies: inout SMTPReplies) -> CURLcode {
        curl.set(CURLOPT_TIMEOUT_MS, limits.connect.inWhole(.milliseconds(1)))
        let status = curl.collectReplies(into: &replies) { $0.sendNothing() }
        // Reply 421 says that the server closes the connection, for example because it was idle. A new connection may
        // succeed.
        guard status != CURLE_OK, curl.replyCode == 421 else { return status }
        replies = SMTPReplies()
        return curl.collectReplies(into: &replies) { $0.sendNothing() }
    }

    /// The error for a session that could not be opened.
    private borrowing func failure(_ status: CURLcode, _ replies: SMTPReplies) -> MailError {
        let reply = curl.replyCode
        let reason = reason(status, replies.text(of: reply, to: nil))
        return .temporary(reply: hasRefused ? reply : nil, reason: reason)
    }

    /// Opens a session, and logs in if the ``SMTPServer`` has credentials. Returns the obstacle; nil if there is none.
    ///
    /// - Parameter hasLogin: whether the ``SMTPServer`` has credentials.
    borrowing func obstacle(hasLogin: Bool) -> SMTPObstacle? {
        var replies = SMTPReplies()
        let status = openSession(&replies)
        let reason = failure(status, replies).reason
        switch status {
        // A server accepts a login with reply 235 (RFC 4954 §6).
        case CURLE_OK: return hasLogin && !replies.contains(235) ? .loginNotOffered : nil
        case CURLE_COULDNT_RESOLVE_HOST: return .unknownHost
        case CURLE_COULDNT_CONNECT: return .unreachable(reason: reason)
        case CURLE_PEER_FAILED_VERIFICATION: return certificateObstacle()
        case CURLE_SSL_CACERT_BADFILE: return .authoritiesUnreadable
        case CURLE_SSL_CONNECT_ERROR: return .tlsFailed(reason: reason)
        case CURLE_USE_SSL_FAILED: return hasRefused ? .tlsFailed(reason: reason) : .noTLS
        case CURLE_LOGIN_DENIED: return hasRefused ? .loginRefused(reason: reason) : .loginNotOffered
        default: break
        }
        // libcurl knows the local port only once the connection is established.
        if curl.number(CURLINFO_LOCAL_PORT) <= 0 { return .unreachable(reason: reason) }
        if replies.contains(220) { return .other(reason: reason) }
        return hasRefused ? .greetingRefused(reason: reason) : .noGreeting
    }

    /// The reason why the certificate is refused. The numbers are those of OpenSSL (`X509_V_ERR_…`). libcurl itself
    /// compares the names in the certificate with the host; if none matches, the number is OK (0) or UNSPECIFIED (1).
    private borrowing func certificateObstacle() -> SMTPObstacle {
        let result = curl.number(CURLINFO_SSL_VERIFYRESULT)
        return switch result {
        case 9, 10: .certificateOutdated
        case 0, 1, 62, 64: .certificateOfOtherName
        case 2, 18, 19, 20, 21: .certificateUntrusted
        default: .tlsFailed(reason: "the certificate is refused (OpenSSL verify result \(result))")
        }
    }

    /// Whether the last reply of the server in the latest transfer is a refusal.
    private var hasRefused: Bool { (400...599).contains(curl.replyCode) }

    /// `text`, the text of the last reply, if that reply is a refusal; otherwise libcurl's description of `status`.
    private borrowing func reason(_ status: CURLcode, _ text: String?) -> String {
        hasRefused ? text ?? "no text" : String(cString: curl_easy_strerror(status))
    }

    private borrowing func deliver(_ mail: Mail) -> Result<String?, MailError> {
        curl.set(CURLOPT_TIMEOUT_MS, limits.mail.inWhole(.milliseconds(1)))
        var upload = Upload(mail.message)
        var replies = SMTPReplies()
        let status = curl.collectReplies(into: &replies) { $0.send(&upload, from: mail.from, to: mail.to) }
        let reply = curl.replyCode
        let text = replies.text(of: reply, to: mail.to)
        guard status != CURLE_OK else { return .success(text.map { "\(reply) \($0)" }) }

        let reason = reason(status, text)
        // libcurl reports CURLE_SEND_ERROR if the server refuses MAIL, RCPT or DATA. A reply after the beginning of the
        // text is about the mail, too. Any other 5xx reply, and every 53x reply, is about the login or the
        // configuration, so a retry can succeed after an operator has corrected it. A 4xx reply is always temporary.
        let isAboutTheMail = status == CURLE_SEND_ERROR || upload.hasBegun
        switch reply {
        case 530...539: return .failure(.temporary(reply: reply, reason: reason))
        case 500...599 where isAboutTheMail: return .failure(.permanent(reply: reply, reason: reason))
        case 400...599: return .failure(.temporary(reply: reply, reason: reason))
        default: return .failure(.temporary(reply: nil, reason: reason))
        }
    }
}

/// The bytes of a message, read in chunks.
private struct Upload {
    private let bytes: [UInt8]
    private var position = 0

    init(_ message: String) {
        bytes = Array(message.utf8)
    }

    var hasBegun: Bool { position > 0 }

    /// Copies the next bytes to the buffer and returns their number; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let chunk = bytes[position...].prefix(buffer.count)
        buffer.copyBytes(from: chunk)
        position += chunk.count
        return chunk.count
    }
}

extension Duration {
    /// The duration in whole units, rounded up, because libcurl takes 0 for no timeout or for its default.
    fileprivate func inWhole(_ unit: Duration) -> Int {
        precondition(self > .zero, "a timeout must be positive")
        return Int((self / unit).rounded(.up))
    }
}

extension CurlHandle {
    /// Runs a transfer, and adds each line that the server sends to the replies.
    fileprivate borrowing func collectReplies(
        into replies: inout SMTPReplies,
        _ transfer: (borrowing CurlHandle) -> CURLcode
    ) -> CURLcode {
        withUnsafeMutablePointer(to: &replies) { target in
            let add: curl_write_callback = { line, size, count, target in
                target!.assumingMemoryBound(to: SMTPReplies.self).pointee
                    .add(UnsafeRawBufferPointer(start: line, count: size * count))
                return size * count
            }
            Self.expectSet(curl_set_header_writer(raw, add, target))
            // libcurl may send QUIT later, when `replies` no longer exists.
            defer { Self.expectSet(curl_set_header_writer(raw, nil, nil)) }
            return transfer(self)
        }
    }

    /// Sends the custom request, NOOP, over the open connection or a new one. Blocks.
    fileprivate borrowing func sendNothing() -> CURLcode {
        Self.expectSet(curl_set_list(raw, CURLOPT_MAIL_RCPT, nil))
        set(CURLOPT_UPLOAD, 0)
        set(CURLOPT_NOBODY, 1)
        return curl_easy_perform(raw)
    }

    /// Sends one message. Blocks.
    fileprivate borrowing func send(_ upload: inout Upload, from sender: String, to recipient: String) -> CURLcode {
        set(CURLOPT_NOBODY, 0)
        set(CURLOPT_UPLOAD, 1)
        set(CURLOPT_MAIL_FROM, sender)
        guard let recipients = curl_slist_append(nil, recipient) else { return CURLE_OUT_OF_MEMORY }
        defer { curl_slist_free_all(recipients) }
        Self.expectSet(curl_set_list(raw, CURLOPT_MAIL_RCPT, recipients))
        return withUnsafeMutablePointer(to: &upload) { source in
            let read: curl_read_callback = { buffer, size, count, source in
                source!.assumingMemoryBound(to: Upload.self).pointee
                    .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
            }
            Self.expectSet(curl_set_reader(raw, read, source))
            return curl_easy_perform(raw)
        }
    }
}
