internal import CCurl
internal import Foundation

/// The sole owner of a `CURL *`.
struct CurlHandle: ~Copyable {
    let raw: UnsafeMutableRawPointer
    private static let initialization = curl_begin()

    init() {
        precondition(Self.initialization == CURLE_OK, "cannot initialize libcurl")
        guard let raw = curl_easy_init() else { preconditionFailure("cannot create a libcurl handle") }
        self.raw = raw
    }

    deinit { curl_easy_cleanup(raw) }

    borrowing func set(_ option: CURLoption, _ value: Int) {
        Self.expectSet(curl_set_long(raw, option, value))
    }

    /// libcurl copies the string.
    borrowing func set(_ option: CURLoption, _ value: String) {
        Self.expectSet(curl_set_string(raw, option, value))
    }

    static func expectSet(_ status: CURLcode) {
        precondition(status == CURLE_OK, "libcurl refused an option: \(String(cString: curl_easy_strerror(status)))")
    }

    /// The last SMTP reply code or HTTP status that the server sent in the latest transfer; 0 if it sent none.
    var replyCode: Int { number(CURLINFO_RESPONSE_CODE) }

    /// The value of `info` for the latest transfer; 0 if there is none, or -1 for a port in newer versions of libcurl.
    borrowing func number(_ info: CURLINFO) -> Int {
        var number = 0
        curl_get_long(raw, info, &number)
        return number
    }

    /// Blocks a signal on this thread. A caller that sets `CURLOPT_NOSIGNAL` must block `SIGPIPE` itself.
    static func block(_ signal: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
