/// The list of all kinds of field in a flow file. A new kind needs a line here and a file
/// `Kinds/<Kind>Field.swift` (``FieldKind``) or, if the kind also needs a file `<Kind>Field+Acts.swift`
/// (``FieldActs``), a folder.
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
