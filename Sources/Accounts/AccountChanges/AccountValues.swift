extension Values {
    /// The values of the account in the fields of the flow, as far as it has them.
    init(of account: Account, in flow: Flow) {
        self.init()
        for field in flow.fields {
            let json: JSON?
            switch (field.isIdentifier, type(of: field.kind).name) {
            case (true, EmailField.name): json = account.email.map(JSON.string)
            case (true, UsernameField.name): json = account.username.map(JSON.string)
            default: json = account.profile[field.name.rawValue]
            }
            self[field.name] = json.flatMap { field.kind.value(json: $0) }
        }
    }
}

extension Signups {
    /// The values of the account as people read them, under the labels of the flow.
    package func profile(of account: Account, in language: Language) -> [(label: String, text: String)] {
        let values = Values(of: account, in: flow)
        return flow.fields.compactMap { field in
            guard let json = values.json(of: field.name) else { return nil }
            return (field.labels[language] ?? field.name.rawValue, field.kind.reviewText(json, in: language))
        }
    }
}
