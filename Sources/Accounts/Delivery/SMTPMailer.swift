internal import CCurl
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Sends mail to one SMTP server, a mail at a time over a connection that is kept while it is in use.
///
/// libcurl blocks, so it works on a thread of its own. `shutdown()` ends that thread; without it the thread lives on.
package final class SMTPMailer: Mailer {
    private let letterbox: Letterbox
    private let thread: DedicatedThread

    /// Throws what ``init(url:caFile:)`` would, and opens nothing.
    package static func check(url: String) throws(MailError) {
        _ = try SMTPServer(url: url, caFile: nil)
    }

    /// Reads a URL such as `smtp://user:password@host:587`, credentials percent-encoded; throws `permanent` where it is
    /// malformed, without repeating it.
    ///
    /// `smtps://` speaks TLS from the first byte (port 465). `smtp://` (port 587) insists on STARTTLS where there are
    /// credentials or `?tls=required`, and otherwise uses it where it is offered. Certificates are always verified, against
    /// the system's authorities or those in `caFile` (PEM).
    package convenience init(url: String, caFile: String? = nil) throws(MailError) {
        try self.init(url: url, caFile: caFile, limits: SMTPLimits())
    }

    init(url: String, caFile: String? = nil, limits: SMTPLimits) throws(MailError) {
        let server = try SMTPServer(url: url, caFile: caFile)
        let letterbox = Letterbox()
        self.letterbox = letterbox
        thread = DedicatedThread(named: "smtp") {
            SMTPConnection.block(SIGPIPE)
            SMTPConnection(to: server, within: limits).deliver(from: letterbox)
            letterbox.finish()
        }
    }

    /// Returns once the server has taken the mail, which takes 30 seconds at most from when its turn comes. At most 64 mails
    /// wait for theirs; another is refused as `temporary`.
    package func send(_ mail: Mail) async throws(MailError) {
        try await withCheckedContinuation { letterbox.post(Letter(mail: mail, sent: $0)) }.get()
    }

    /// Lets the mail under way finish, refuses those that wait as `temporary`, and ends the thread. That takes 40 seconds
    /// at most: those of a mail and of the good-bye. To be called once.
    package func shutdown() async {
        await letterbox.close()
        thread.join()
    }
}

/// A mail and whoever waits for it.
private struct Letter: Sendable {
    let mail: Mail
    let sent: CheckedContinuation<Result<Void, MailError>, Never>
}

/// Where tasks leave letters and the thread picks them up, in order.
private final class Letterbox: Sendable {
    private struct Contents {
        var letters: [Letter] = []
        var isOpen = true
        var finished: CheckedContinuation<Void, Never>?

        mutating func add(_ letter: Letter) -> MailError? {
            guard isOpen else { return .temporary(reply: nil, reason: "the mailer has shut down") }
            guard letters.count < 64 else { return .temporary(reply: nil, reason: "too many mails are waiting") }
            letters.append(letter)
            return nil
        }

        mutating func close(_ finished: CheckedContinuation<Void, Never>) -> [Letter] {
            precondition(isOpen, "a mailer is shut down once")
            defer { letters = [] }
            isOpen = false
            self.finished = finished
            return letters
        }
    }

    private let contents = Mutex(Contents())
    private let posted = DispatchSemaphore(value: 0)

    func post(_ letter: Letter) {
        if let refusal = contents.withLock({ $0.add(letter) }) {
            letter.sent.resume(returning: .failure(refusal))
        } else {
            posted.signal()
        }
    }

    /// Waits for a letter; nil once the box is closed. For the thread.
    func next() -> Letter? {
        posted.wait()
        return contents.withLock { $0.letters.isEmpty ? nil : $0.letters.removeFirst() }
    }

    /// Returns when the thread has called `finish()`.
    func close() async {
        await withCheckedContinuation { finished in
            for letter in contents.withLock({ $0.close(finished) }) {
                letter.sent.resume(returning: .failure(.temporary(reply: nil, reason: "the mailer has shut down")))
            }
            posted.signal()
        }
    }

    func finish() {
        contents.withLock { $0.finished.take() }?.resume()
    }
}

/// How long a server may take before a mail counts as not delivered yet. More than zero.
struct SMTPLimits: Sendable {
    /// Until the connection stands, name resolution, TLS and login included.
    var connect: Duration = .seconds(10)
    /// For each reply, in whole seconds. It is the only limit of the good-bye at the end.
    var reply: Duration = .seconds(10)
    /// For a whole mail, from when its turn comes.
    var mail: Duration = .seconds(30)
}

/// Where to deliver, and as whom.
struct SMTPServer: Sendable {
    /// Scheme, host and port, without the credentials.
    let url: String
    let user: String?
    let password: String?
    let requiresTLS: Bool
    let caFile: String?

    init(url text: String, caFile: String?) throws(MailError) {
        func malformed(_ reason: String) -> MailError { .permanent(reply: nil, reason: "SMTP URL: \(reason)") }

        guard let url = URLComponents(string: text, encodingInvalidCharacters: false) else {
            throw malformed("it is no URL")
        }
        guard let scheme = url.scheme?.lowercased(), ["smtp", "smtps"].contains(scheme) else {
            throw malformed("it begins with neither smtp:// nor smtps://")
        }
        guard let host = url.encodedHost, !host.isEmpty, !host.contains("%") else {
            throw malformed("it names no host")
        }
        let port = url.port ?? (scheme == "smtps" ? 465 : 587)
        guard (1...65535).contains(port) else { throw malformed("the port is not between 1 and 65535") }
        guard ["", "/"].contains(url.path), url.fragment == nil else { throw malformed("it has a path") }
        guard [nil, "", "tls=required"].contains(url.query) else {
            throw malformed("only tls=required may follow the ?")
        }
        guard (url.user == nil) == (url.password == nil), url.user != "", url.password != "" else {
            throw malformed("it needs both a user and a password, or neither")
        }
        guard !"\(url.user ?? "")\(url.password ?? "")".contains(where: { $0.isNewline || $0 == "\0" }) else {
            throw malformed("the credentials contain a line break")
        }
        self.url = "\(scheme)://\(host):\(port)"
        user = url.user
        password = url.password
        requiresTLS = scheme == "smtps" || url.user != nil || url.query == "tls=required"
        self.caFile = caFile
    }
}

/// One libcurl handle set up for a server. It keeps the connection between mails and opens it again as needed.
private struct SMTPConnection: ~Copyable {
    private let curl = CurlHandle()
    /// `CURLOPT_SERVER_RESPONSE_TIMEOUT`, which older headers only have as a macro, and those are not imported.
    private static let serverResponseTimeout = CURLoption(rawValue: 112)

    init(to server: SMTPServer, within limits: SMTPLimits) {
        curl.set(CURLOPT_URL, server.url)
        // A proxy in the environment is meant for the web.
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
        curl.set(CURLOPT_TIMEOUT_MS, limits.mail.inWhole(.milliseconds(1)))
        // Servers hang up on idle clients; ours leaves before they do.
        curl.set(CURLOPT_MAXAGE_CONN, 60)
        curl.set(CURLOPT_NOSIGNAL, 1)
        curl.set(CURLOPT_UPLOAD, 1)
    }

    consuming func deliver(from letterbox: Letterbox) {
        while let letter = letterbox.next() {
            letter.sent.resume(returning: deliver(letter.mail))
        }
    }

    private borrowing func deliver(_ mail: Mail) -> Result<Void, MailError> {
        var upload = Upload(mail.message)
        let status = curl.send(&upload, from: mail.from, to: mail.to)
        guard status != CURLE_OK else { return .success(()) }

        let reply = curl.replyCode
        let reason = String(cString: curl_easy_strerror(status))
        // libcurl says “send error” when MAIL, RCPT or DATA is refused; once the text is on its way, the reply is about it
        // too. Any other refusal, like a 53x one, is about us and passes when the operator has mended it.
        let isAboutTheMail = status == CURLE_SEND_ERROR || upload.hasBegun
        switch reply {
        case 530...539: return .failure(.temporary(reply: reply, reason: reason))
        case 500...599 where isAboutTheMail: return .failure(.permanent(reply: reply, reason: reason))
        case 400...599: return .failure(.temporary(reply: reply, reason: reason))
        default: return .failure(.temporary(reply: nil, reason: reason))
        }
    }

    /// Keeps a signal from this thread: `CURLOPT_NOSIGNAL` leaves `SIGPIPE` to the caller.
    static func block(_ signal: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// The bytes of a message, handed out piece by piece.
private struct Upload {
    private let bytes: [UInt8]
    private var position = 0

    init(_ message: String) {
        bytes = Array(message.utf8)
    }

    var hasBegun: Bool { position > 0 }

    /// Fills the buffer as far as there are bytes; 0 means the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let piece = bytes[position...].prefix(buffer.count)
        buffer.copyBytes(from: piece)
        position += piece.count
        return piece.count
    }
}

extension Duration {
    /// Rounded up, because libcurl takes 0 for no limit or for one of its own.
    fileprivate func inWhole(_ unit: Duration) -> Int {
        precondition(self > .zero, "a limit is longer than nothing")
        return Int((self / unit).rounded(.up))
    }
}

/// The sole owner of a `CURL *`.
private struct CurlHandle: ~Copyable {
    private let raw: UnsafeMutableRawPointer
    private static let begun = curl_begin()

    init() {
        precondition(Self.begun == CURLE_OK, "libcurl could not be set up")
        guard let raw = curl_easy_init() else { preconditionFailure("libcurl gave no handle") }
        self.raw = raw
    }

    deinit { curl_easy_cleanup(raw) }

    borrowing func set(_ option: CURLoption, _ value: Int) {
        Self.expectSet(curl_set_long(raw, option, value))
    }

    /// libcurl keeps a copy of the string.
    borrowing func set(_ option: CURLoption, _ value: String) {
        Self.expectSet(curl_set_string(raw, option, value))
    }

    private static func expectSet(_ status: CURLcode) {
        precondition(status == CURLE_OK, "libcurl refused a setting: \(String(cString: curl_easy_strerror(status)))")
    }

    /// One transfer of one message. Blocks.
    borrowing func send(_ upload: inout Upload, from sender: String, to recipient: String) -> CURLcode {
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

    /// The last reply of the server in this transfer, 0 where there was none.
    var replyCode: Int {
        var code = 0
        curl_get_long(raw, CURLINFO_RESPONSE_CODE, &code)
        return code
    }
}
