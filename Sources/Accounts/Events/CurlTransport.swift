internal import CCurl
internal import Foundation

/// Sends requests with libcurl, on threads of its own, over connections that are reused.
///
/// The IP address is checked when the socket is opened, so a host name cannot resolve to another address between the
/// check and the connection. Redirects are not followed. The body of a response is not kept, and the transfer ends once
/// the body exceeds 4 KiB.
package final class CurlTransport: EventTransport {
    private let pool: WorkPool<CurlWorker>
    package let capacity: Int

    /// - Parameters:
    ///   - allowsLoopback: whether requests may go to loopback addresses, even without TLS. Only for development.
    ///   - networks: private networks to which requests may go, except to the metadata services of clouds.
    ///     ``IPBlock/isPrivate`` is true for each network.
    package convenience init(allowsLoopback: Bool, networks: [IPBlock] = []) {
        self.init(allowsLoopback: allowsLoopback, networks: networks, timeout: .seconds(15))
    }

    /// - Parameters:
    ///   - capacity: the number of threads, each of which sends one request at a time.
    ///   - timeout: the maximum time for a whole request, including name resolution.
    init(allowsLoopback: Bool, networks: [IPBlock] = [], capacity: Int = 32, timeout: Duration) {
        let addresses = ReceiverAddresses(allowsLoopback: allowsLoopback, networks: networks)
        self.capacity = capacity
        pool = WorkPool(
            named: "events",
            (0..<capacity).map { _ in CurlWorker(addresses, timeout: timeout) },
            queue: capacity,
            maximumWait: .seconds(60),
            finished: { _ in },
            rejected: {}
        )
    }

    package func post(_ request: EventRequest) async -> EventOutcome {
        do throws(WorkRejection) {
            return try await pool.run { $0.post(request) }
        } catch {
            return .failed("this server is stopping or busy")
        }
    }

    /// Lets running requests finish, and blocks until the threads have ended.
    package func shutdown() {
        pool.shutdown()
    }
}

/// The state of one request, which the callbacks of libcurl read and change.
struct TransferState {
    let addresses: ReceiverAddresses
    let isEncrypted: Bool
    private(set) var hasRefusedAddress = false
    private(set) var hasAllowedAddress = false
    var received = 0

    static let maximumResponse = 4096

    /// Whether libcurl has tried addresses of the host and none of them was allowed.
    var hasOnlyRefusedAddresses: Bool { hasRefusedAddress && !hasAllowedAddress }

    mutating func allows(_ address: IPAddress) -> Bool {
        let isAllowed = addresses.contains(address, isEncrypted: isEncrypted)
        if isAllowed { hasAllowedAddress = true } else { hasRefusedAddress = true }
        return isAllowed
    }
}

/// A libcurl handle, which sends one request at a time.
///
/// `@unchecked`, because a handle is not safe for two threads at once. Each worker is used by only one thread of the
/// pool.
private final class CurlWorker: @unchecked Sendable {
    private let curl = CurlHandle()
    private let addresses: ReceiverAddresses

    init(_ addresses: ReceiverAddresses, timeout: Duration) {
        self.addresses = addresses
        curl.set(CURLOPT_PROTOCOLS_STR, addresses.allowsLoopback ? "https,http" : "https")
        curl.set(CURLOPT_FOLLOWLOCATION, 0)
        // Ignore a proxy from the environment: it would connect to addresses that this server has not checked.
        curl.set(CURLOPT_PROXY, "")
        curl.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        curl.set(CURLOPT_SSL_VERIFYPEER, 1)
        curl.set(CURLOPT_SSL_VERIFYHOST, 2)
        curl.set(CURLOPT_TIMEOUT_MS, Int(timeout / .milliseconds(1)))
        curl.set(CURLOPT_MAXAGE_CONN, 60)
        // Each thread may send to all applications, and keeps at most four connections open.
        curl.set(CURLOPT_MAXCONNECTS, 4)
        curl.set(CURLOPT_NOSIGNAL, 1)
        curl.set(CURLOPT_USERAGENT, "accounts-api/\(serviceVersion)")
    }

    func post(_ request: EventRequest) -> EventOutcome {
        CurlHandle.block(SIGPIPE)
        var state = TransferState(
            addresses: addresses,
            isEncrypted: request.url.lowercased().hasPrefix("https://")
        )
        curl.set(CURLOPT_URL, request.url)
        let status = curl.post(request, &state)
        let response = curl.replyCode
        // CURLE_WRITE_ERROR means that the body of the response is longer than 4 KiB, and that the rest was not read.
        // The status of the response counts nevertheless. A status of 1xx is not the final status.
        guard response >= 200, status == CURLE_OK || status == CURLE_WRITE_ERROR else {
            return .failed(
                state.hasOnlyRefusedAddresses
                    ? "the address is not allowed" : String(cString: curl_easy_strerror(status))
            )
        }
        return .answered(status: response, retryAfter: curl.retryAfter)
    }
}

extension CurlHandle {
    /// Sends one request. Blocks.
    fileprivate borrowing func post(_ request: EventRequest, _ state: inout TransferState) -> CURLcode {
        // Without this empty header, libcurl would wait for `100 Continue` before it sends a long body.
        let headers = (request.headers + ["Expect:"]).reduce(nil as UnsafeMutablePointer<curl_slist>?) { list, header in
            curl_slist_append(list, header) ?? list
        }
        defer { curl_slist_free_all(headers) }
        Self.expectSet(curl_set_list(raw, CURLOPT_HTTPHEADER, headers))
        defer { Self.expectSet(curl_set_list(raw, CURLOPT_HTTPHEADER, nil)) }
        return withUnsafeMutablePointer(to: &state) { state in
            Self.expectSet(curl_set_opener(raw, { openSocket(to: $2, $0) }, state))
            Self.expectSet(curl_set_writer(raw, { countBytes($1 * $2, $3) }, state))
            return request.body.withUnsafeBytes { body in
                Self.expectSet(curl_set_body(raw, body.baseAddress, body.count))
                return curl_easy_perform(raw)
            }
        }
    }

    /// The `Retry-After` of the response to the latest request in seconds; 0 if it had none.
    fileprivate var retryAfter: Int {
        var seconds: curl_off_t = 0
        curl_get_offset(raw, CURLINFO_RETRY_AFTER, &seconds)
        return Int(seconds)
    }
}

/// Opens a socket for the address. Returns -1 if the address is not allowed, or if the socket cannot be opened.
private func openSocket(to address: UnsafeMutableRawPointer?, _ state: UnsafeMutableRawPointer?) -> Int32 {
    guard let state, let address = address?.assumingMemoryBound(to: curl_sockaddr.self) else { return -1 }
    // An IPv6 address is longer than the type `sockaddr`, so a copy of that type would lose its end.
    let bytes = UnsafeRawPointer(address) + MemoryLayout<curl_sockaddr>.offset(of: \.addr)!
    guard let ipAddress = IPAddress(bytes.assumingMemoryBound(to: sockaddr.self)),
        state.assumingMemoryBound(to: TransferState.self).pointee.allows(ipAddress)
    else { return -1 }
    let (family, type, number) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    return socket(family, type | Int32(SOCK_CLOEXEC.rawValue), number)
}

/// Counts the bytes of the body of the response, and ends the transfer when there are too many.
private func countBytes(_ count: Int, _ state: UnsafeMutableRawPointer?) -> Int {
    guard let state = state?.assumingMemoryBound(to: TransferState.self) else { return 0 }
    state.pointee.received += count
    return state.pointee.received > TransferState.maximumResponse ? 0 : count
}
