import NIOCore
import NIOPosix

extension Settings {
    /// Throws where another program has one of the ports, before anything is begun.
    func checkPorts() async throws {
        var mistakes: [String] = []
        for (setting, address) in [(Setting.listen, listen), (.metricsListen, metricsListen)] {
            guard let address, address.port != 0 else { continue }
            do {
                let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: address.host, port: address.port).get()
                try await channel.close()
            } catch let error as IOError {
                mistakes.append(
                    "\(setting.rawValue) \(address.host):\(address.port): \(error.errnoCode == EADDRINUSE ? "another program has the port" : "\(error)")"
                )
            } catch {
                mistakes.append("\(setting.rawValue) \(address.host):\(address.port) is no address of this machine")
            }
        }
        if !mistakes.isEmpty { throw SettingMistakes(all: mistakes) }
    }
}
