/// The list of all kinds of field that a flow may ask for. A new kind is one line here.
package enum Kinds {
    package static let all: [any FieldKind.Type] = [
        ChoiceField.self,
        CodeField.self,
        ConfirmationField.self,
        ConsentField.self,
        DateField.self,
        EmailField.self,
        ImageField.self,
        NumberField.self,
        PasswordField.self,
        PhoneField.self,
        TOTPField.self,
        TextField.self,
        UsernameField.self,
    ]

    /// As the flow file names them.
    package static let names = all.map { $0.name }

    /// The kinds that may identify an account, as the flow file names them.
    static let identifying = all.filter { $0.canIdentify }.map { $0.name }
}
