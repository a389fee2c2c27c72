extension Values {
    /// The values of the account in the fields of the flow, as far as it has them in its own row.
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

extension Sessions {
    /// The values of the account in the fields of the flow, including those in the tables of the kinds.
    package func values(of account: Account) async throws(SignInError) -> Values {
        let queries = Kinds.all.compactMap { $0.accountValues(of: account.id) }
        return try await converting(to: SignInError.database) { () throws(DatabaseError) in
            var values = Values(of: account, in: flow)
            for rows in try await database.transaction(queries) {
                for row in rows {
                    let (name, text) = try row.decode(String.self, String.self)
                    guard let field = flow.field(named: FieldName(name)), let json = try? JSON.read(Array(text.utf8)),
                        let value = field.kind.value(json: json)
                    else { continue }
                    values[field.name] = value
                }
            }
            return values
        }
    }
}

extension Signups {
    /// The values as people read them, with the fields of the flow that have them.
    package func texts(of values: Values, in language: Language) -> [(field: Field, text: String)] {
        flow.fields.compactMap { field in
            values.json(of: field.name).map { (field, field.kind.reviewText($0, in: language)) }
        }
    }
}
