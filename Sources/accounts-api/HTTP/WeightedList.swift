import Accounts

/// A header field that lists the names that the client accepts, such as media types, each with a quality from 0 (not
/// acceptable) to 1 (RFC 9110 §12.4.2): for example `gzip, br;q=0.5`.
struct WeightedList: Sendable {
    private let members: [(name: String, quality: Double)]

    init(_ field: String) {
        members = field.headerParts(separatedBy: ",").map { part in
            let pieces = part.headerParts(separatedBy: ";").map { $0.lowercased() }
            let quality = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return (pieces.first ?? "", quality)
        }
    }

    var isEmpty: Bool { members.isEmpty }

    /// The quality of the first of these names that the list contains; 0 if it contains none of them. Pass the most
    /// specific name first.
    func quality(of names: String...) -> Double {
        for name in names {
            if let found = members.first(where: { $0.name == name }) { return found.quality }
        }
        return 0
    }
}
