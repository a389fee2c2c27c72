import Accounts

extension Problem {
    /// The refusals of the answers; empty if the problem has another cause.
    private var refusals: [JSON] {
        guard case .array(let refusals)? = members.first(where: { $0.name == "errors" })?.value else { return [] }
        return refusals
    }

    /// The codes of the refusals, such as `code_expired`.
    var refusalCodes: [String] { refusals.compactMap { $0["code"]?.string } }

    /// The first message of each refused field.
    var messagesByField: [String: String] {
        Dictionary(
            refusals.map { ($0["field"]?.string ?? "", $0["message"]?.string ?? "") },
            uniquingKeysWith: { first, _ in first }
        )
    }
}
