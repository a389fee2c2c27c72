/// The representation of an answer that the client wants.
enum Representation: Sendable {
    case json, page
}

extension Representation {
    /// The representation that `Accept` prefers, JSON if it prefers neither; nil if it accepts neither (RFC 9110
    /// §12.5.1).
    init?(accept: String?) {
        let types = WeightedList(accept ?? "")
        if types.isEmpty {
            self = .json
            return
        }
        let json = Self.quality(ofJSONIn: types)
        let page = types.quality(of: "text/html", "text/*", "*/*")
        if json == 0, page == 0 { return nil }
        self = page > json ? .page : .json
    }

    /// Whether JSON is acceptable, even if a page is preferred.
    static func takesJSON(_ accept: String?) -> Bool {
        accept.map { quality(ofJSONIn: WeightedList($0)) > 0 } ?? true
    }

    private static func quality(ofJSONIn types: WeightedList) -> Double {
        types.quality(of: "application/json", "application/*", "*/*")
    }
}
