import Accounts

extension Pages {
    /// The page with the reference for integrators, or with the explanation of one problem type. It is in English like
    /// the documentation.
    ///
    /// - Parameter reference: the JSON of all problem types, or of one.
    func problems(_ reference: JSON) -> Page {
        let isList = reference["problems"] != nil
        let problems = isList ? reference.items("problems") : [reference]
        return Page(
            template: .problems,
            title: isList ? "Problems" : reference["title"]?.string ?? "",
            members: [
                .init("is_list", .bool(isList)), .init("problems", .array(problems.map(\.withTextsInPieces))),
                .init("codes", .array(reference.items("codes").map(\.withTextsInPieces))),
            ]
        )
    }
}

extension JSON {
    fileprivate func items(_ name: String) -> [JSON] {
        if case .array(let items)? = self[name] { items } else { [] }
    }

    /// An entry of the reference with its texts split at the backticks, so that the template can mark names as code.
    fileprivate var withTextsInPieces: JSON {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { member in
                guard ["meaning", "remedy"].contains(member.name), let text = member.value.string else { return member }
                let pieces = text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map {
                    index,
                    piece in
                    ["text": .string(String(piece)), "is_code": .bool(index % 2 == 1)] as JSON
                }
                return .init(member.name, .array(pieces))
            }
        )
    }
}
