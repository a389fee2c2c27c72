import NIOCore

/// The limits of one connection before its requests reach a route (policy).
struct ConnectionLimits: Sendable {
    /// The maximum size in bytes of all header fields of a request together, and of each one.
    var headerBytes = 16_384
    var headerCount = 100
    /// From the start of a connection to the end of its first header.
    var firstHeader: TimeAmount = .seconds(10)
    /// From one answer to the end of the next header.
    var nextHeader: TimeAmount = .seconds(60)
    /// From the end of a header to the end of its body.
    var body: TimeAmount = .seconds(30)
    /// The maximum number of concurrent connections; further ones wait until one ends.
    var connections = 1000
    /// The maximum number of concurrent connections of one client network; further ones are closed.
    var connectionsOfClient = 50
}
