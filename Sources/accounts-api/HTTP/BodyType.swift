import Accounts

/// The media types of a body that ``BodyReader`` reads. A body of either type must be UTF-8.
enum BodyType: String, CaseIterable {
    case json = "application/json"
    case form = "application/x-www-form-urlencoded"

    init?(_ contentType: String?) {
        guard let parts = contentType?.headerParts(separatedBy: ";").map({ $0.lowercased() }),
            let first = parts.first,
            parts.dropFirst().allSatisfy({ ["charset=utf-8", "charset=\"utf-8\""].contains($0) })
        else { return nil }
        self.init(rawValue: first)
    }
}
