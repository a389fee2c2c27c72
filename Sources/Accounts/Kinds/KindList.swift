/// The list of all kinds of field in a flow file. A new kind is a file `Kinds/<Kind>Field.swift`, see ``FieldKind``; one
/// that acts is a folder, see ``FieldActs``. It needs one line here, and a case in ``RefusalTopic``.
package enum KindList {
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

    /// The names of all kinds in the flow file.
    package static let names = all.map { $0.name }

    /// The names of the kinds that may identify an account.
    static let identifying = all.filter { $0.canIdentify }.map { $0.name }
}
