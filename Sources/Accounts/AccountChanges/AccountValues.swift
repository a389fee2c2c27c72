extension Values {
    /// The values that the row of the account has for the fields of the flow. Values in other tables, such as consents
    /// and photos, are missing, and so is a value that the kind of its field cannot read.
    init(of account: Account, in flow: Flow) {
        self.init()
        for field in flow.fields {
            self[field.name] = account.json(of: field).flatMap { field.kind.value(json: $0) }
        }
    }
}

extension Account {
    /// The value that the row of the account has for the field; nil if the row has none.
    func json(of field: Field) -> JSON? {
        switch (field.isIdentifier, type(of: field.kind).name) {
        case (true, EmailField.name): email.map(JSON.string)
        case (true, UsernameField.name): username.map(JSON.string)
        default: profile[field.name.rawValue]
        }
    }
}

extension Sessions {
    /// Returns the values of the account for the fields of the flow: those that `account` contains, and those in tables
    /// of field kinds, such as `consents`. Reads only these tables. Secrets are missing, and so is a value that the
    /// kind of its field cannot read.
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
    /// The fields of the flow that have a value, in the order of the flow, each with the text that the review page
    /// shows for the value.
    package func texts(of values: Values, in language: Language) -> [(field: Field, text: String)] {
        flow.fields.compactMap { field in
            values.json(of: field.name).map { (field, field.kind.reviewText($0, in: language)) }
        }
    }
}
