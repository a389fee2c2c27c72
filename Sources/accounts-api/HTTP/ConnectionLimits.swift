import NIOCore

/// What one connection may use of the server before its requests reach a route (policy).
struct ConnectionLimits: Sendable {
    /// The size of all header fields of a request together, and of each of them, in bytes.
    var headerBytes = 16_384
    var headerCount = 100
    /// From the start of a connection to the end of its first header.
    var firstHeader: TimeAmount = .seconds(10)
    /// From one answer to the end of the next header.
    var nextHeader: TimeAmount = .seconds(60)
    /// From the end of a header to the end of its body.
    var body: TimeAmount = .seconds(30)
    /// Concurrent connections; further ones wait until one ends.
    var connections = 1000
    /// Concurrent connections of one client network; further ones are closed.
    var connectionsOfClient = 50
}
