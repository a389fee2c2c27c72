extension Values {
    /// The values of the account in the fields of the flow, as far as it has them.
    init(of account: Account, in flow: Flow) {
        self.init()
        for field in flow.fields {
            self[field.name] = account.json(of: field).flatMap { field.kind.value(json: $0) }
        }
    }
}

extension Account {
    /// What the account stores for the field; nil if it stores nothing.
    func json(of field: Field) -> JSON? {
        switch (field.isIdentifier, type(of: field.kind).name) {
        case (true, EmailField.name): email.map(JSON.string)
        case (true, UsernameField.name): username.map(JSON.string)
        default: profile[field.name.rawValue]
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
