extension AccountEvent {
    /// The trace of all attempts to deliver this event (W3C Trace Context, section 3.2.2.3): the digits of its id.
    var traceID: String { id.description.replacing("-", with: "") }

    /// The `traceparent` of one attempt, with a parent id of its own. The flag asks the application to record the trace.
    var traceParent: String {
        let parent = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        return "00-\(traceID)-\(String(repeating: "0", count: 16 - parent.count))\(parent)-01"
    }
}
