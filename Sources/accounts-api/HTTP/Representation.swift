import Accounts

/// The representation of an answer that the client wants.
enum Representation: Sendable {
    case json, page
}

extension Representation {
    /// The representation that `Accept` prefers, JSON if it prefers neither; nil if it accepts neither (RFC 9110
    /// §12.5.1).
    init?(accept: String?) {
        let ranges = accept.map { Self.ranges(of: $0) } ?? []
        if ranges.isEmpty {
            self = .json
            return
        }
        let json = Self.quality(of: ["application/json", "application/*", "*/*"], among: ranges)
        let page = Self.quality(of: ["text/html", "text/*", "*/*"], among: ranges)
        if json == 0, page == 0 { return nil }
        self = page > json ? .page : .json
    }

    /// Whether JSON is acceptable, even if a page is preferred.
    static func takesJSON(_ accept: String?) -> Bool {
        accept.map { quality(of: ["application/json", "application/*", "*/*"], among: ranges(of: $0)) > 0 } ?? true
    }

    private static func ranges(of accept: String) -> [(range: String, quality: Double)] {
        accept.split(separator: ",").map { part in
            let pieces = part.split(separator: ";").map { $0.trimmingWhitespace().lowercased() }
            let quality = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return (pieces.first ?? "", quality)
        }
    }

    /// The quality of the first name that occurs in the ranges; 0 if none occurs. Pass the most specific name first.
    private static func quality(of names: [String], among ranges: [(range: String, quality: Double)]) -> Double {
        for name in names {
            if let found = ranges.first(where: { $0.range == name }) { return found.quality }
        }
        return 0
    }
}
