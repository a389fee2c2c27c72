import Foundation
import NIOCore

extension Settings {
    /// The mistake that `LISTEN` and `METRICS_LISTEN` name the same port of one address. Two ports 0 do not
    /// conflict, because the system chooses a free port for each.
    var portMistakes: [String] {
        guard let listen = valid(\.listen), let metrics = valid(\.metricsListen) ?? nil, listen.port != 0,
            listen.port == metrics.port, listen.overlaps(metrics)
        else { return [] }
        return ["LISTEN and METRICS_LISTEN name the same port of one address; use another port for METRICS_LISTEN"]
    }

    /// Waits until the server can listen on its ports, because a server that it replaces may not have closed them yet.
    /// Throws if an obstacle is not temporary, or remains after all attempts, so that the server fails before it starts
    /// anything.
    ///
    /// - Parameters:
    ///   - attempts: the maximum number of attempts; at least one.
    ///   - pause: waits between two attempts.
    func awaitPorts(
        attempts: Int = 50,
        pause: () async throws -> Void = { try await Task.sleep(for: .milliseconds(100)) }
    ) async throws {
        for _ in 1..<attempts {
            do throws(SettingMistakes) {
                return try checkPorts()
            } catch {
                guard error.areTemporary else { throw error }
            }
            try await pause()
        }
        try checkPorts()
    }

    /// Throws if the server cannot listen on one of its ports.
    func checkPorts() throws(SettingMistakes) {
        let table = SettingTable.shared
        var (mistakes, temporary): ([String], [String]) = ([], [])
        for (name, address) in [(table.listen.name, self.listen), (table.metricsListen.name, self.metricsListen)] {
            guard let address, address.port != 0, let obstacle = address.obstacle else { continue }
            mistakes.append("\(name) \(address.host):\(address.port): \(obstacle.reason)")
            if obstacle.isTemporary { temporary.append(mistakes[mistakes.count - 1]) }
        }
        if !mistakes.isEmpty { throw SettingMistakes(all: mistakes, temporary: temporary) }
    }
}

extension Address {
    /// Nil if the host is unknown.
    private var resolved: SocketAddress? { try? SocketAddress.makeAddressResolvingHost(host, port: port) }

    /// Whether only one server can listen on the same port of both hosts: they have the same IP address, or one is a
    /// wildcard address that includes the other.
    fileprivate func overlaps(_ other: Address) -> Bool {
        guard let first = resolved?.ipAddress, let second = other.resolved?.ipAddress else { return false }
        let areIPv4 = !"\(first)\(second)".contains(":")
        // A socket at :: also receives the connections of IPv4.
        return first == second || [first, second].contains("::") || areIPv4 && [first, second].contains("0.0.0.0")
    }

    /// The reason why a server cannot listen at this address, and whether it may be able to later; nil if it can. Binds
    /// the address but does not listen, because a client that connected now would get no answer.
    fileprivate var obstacle: (reason: String, isTemporary: Bool)? {
        guard let address = resolved else { return ("the host is unknown", false) }
        let descriptor = socket(address.protocol.rawValue, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return (String(cString: strerror(errno)), false) }
        defer { close(descriptor) }
        var isReused: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        let status = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) }
        if status == 0 { return nil }
        // While the machine boots, it may not have the address yet.
        let isTemporary = [EADDRINUSE, EADDRNOTAVAIL].contains(errno)
        return (errno == EADDRINUSE ? "another program has the port" : String(cString: strerror(errno)), isTemporary)
    }
}
