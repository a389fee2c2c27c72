import NIOCore

/// The limits on connections, on the headers of requests, and on the time for receiving requests and sending answers.
/// The values are chosen by judgement, so they can be changed.
struct ConnectionLimits: Sendable {
    /// The maximum size in bytes of all header fields of a request together, and of each one.
    var headerBytes = 16_384
    var headerCount = 100
    /// The maximum time from the start of a connection to the end of its first header.
    var firstHeader: TimeAmount = .seconds(10)
    /// The maximum time from the end of a request and its answer to the end of the next request's header.
    var nextHeader: TimeAmount = .seconds(60)
    /// The maximum time from the end of a request's header to the end of its body.
    var body: TimeAmount = .seconds(30)
    /// The maximum time for which a connection is not writable, because the client does not read the answers or reads
    /// them too slowly. Without this limit, such a client could keep its connection for ever.
    var answer: TimeAmount = .seconds(60)
    /// The maximum number of concurrent connections. A further connection waits until another one ends.
    var connections = 1000
    /// The maximum number of concurrent connections of one client network. A further connection is closed at once.
    var connectionsOfClient = 50
}
