import Foundation
import NIOCore

extension Settings {
    /// Throws if the server cannot listen on one of its ports, so that it fails before it starts anything.
    func checkPorts() throws {
        let table = SettingTable.shared
        var mistakes: [String] = []
        for (name, address) in [(table.listen.name, self.listen), (table.metricsListen.name, self.metricsListen)] {
            guard let address, address.port != 0, let reason = address.obstacle else { continue }
            mistakes.append("\(name) \(address.host):\(address.port): \(reason)")
        }
        if !mistakes.isEmpty { throw SettingMistakes(all: mistakes) }
    }
}

extension Address {
    /// The reason why a server cannot listen at this address; nil if it can. Binds the address but does not listen,
    /// because a client that connected now would get no answer.
    fileprivate var obstacle: String? {
        guard let address = try? SocketAddress.makeAddressResolvingHost(host, port: port) else {
            return "not an address of this machine"
        }
        let descriptor = socket(address.protocol.rawValue, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        defer { close(descriptor) }
        var isReused: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        let status = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) }
        if status == 0 { return nil }
        return errno == EADDRINUSE ? "another program has the port" : String(cString: strerror(errno))
    }
}
