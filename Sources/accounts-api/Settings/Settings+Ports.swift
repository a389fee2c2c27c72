import NIOCore
import NIOPosix

extension Settings {
    /// Throws if the server cannot listen on one of its ports, so that it fails before it starts anything.
    func checkPorts() async throws {
        let table = SettingTable.shared
        var mistakes: [String] = []
        for (name, address) in [(table.listen.name, self.listen), (table.metricsListen.name, self.metricsListen)] {
            guard let address, address.port != 0 else { continue }
            do {
                let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: address.host, port: address.port).get()
                try await channel.close()
            } catch {
                let reason =
                    switch error as? IOError {
                    case let error? where error.errnoCode == EADDRINUSE: "another program has the port"
                    case let error?: "\(error)"
                    case nil: "not an address of this machine"
                    }
                mistakes.append("\(name) \(address.host):\(address.port): \(reason)")
            }
        }
        if !mistakes.isEmpty { throw SettingMistakes(all: mistakes) }
    }
}
