extension Values {
    /// The values that the row of the account has for the fields of the flow. Values in other tables are missing, such
    /// as consents and photos.
    init(of account: Account, in flow: Flow) {
        self.init()
        for field in flow.fields {
            self[field.name] = account.json(of: field).flatMap { field.kind.value(json: $0) }
        }
    }
}

extension Account {
    /// The value that the row of the account has for the field; nil if it has none.
    func json(of field: Field) -> JSON? {
        switch (field.isIdentifier, type(of: field.kind).name) {
        case (true, EmailField.name): email.map(JSON.string)
        case (true, UsernameField.name): username.map(JSON.string)
        default: profile[field.name.rawValue]
        }
    }
}

extension Sessions {
    /// Reads the values of the account for the fields of the flow: those of its row, and those in tables of field
    /// kinds, such as `consents`.
    package func values(of account: Account) async throws(SignInError) -> Values {
        let queries = KindList.all.compactMap { $0.accountValues(of: account.id) }
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
    /// The fields of the flow that have a value, in their order, each with the text that the review page shows for it.
    package func texts(of values: Values, in language: Language) -> [(field: Field, text: String)] {
        flow.fields.compactMap { field in
            values.json(of: field.name).map { (field, field.kind.reviewText($0, in: language)) }
        }
    }
}
