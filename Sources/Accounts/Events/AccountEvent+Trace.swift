extension AccountEvent {
    /// The trace id of all attempts to deliver this event (W3C Trace Context, section 3.2.2.3): the hexadecimal digits
    /// of the id of the event.
    var traceID: String { id.description.replacing("-", with: "") }

    /// Returns the `traceparent` of one attempt, with a new parent id. The flag `01` (sampled) makes most tracing
    /// systems record the trace, although this service records none.
    func makeTraceParent() -> String {
        let parent = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        return "00-\(traceID)-\(String(repeating: "0", count: 16 - parent.count))\(parent)-01"
    }
}
