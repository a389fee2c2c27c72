/// The topic of a refused answer: the message about the refusal names the topic, and may show an example. The raw value
/// is the key of the topic in a file of texts. Most raw values are also the name of a kind of field, or of a member of
/// a request that is no field.
package enum RefusalTopic: String, CaseIterable, Sendable {
    case email, phone, username, password, confirmation, code, consent, date, number, choice
    case authenticator = "totp"
    case secondFactor = "second-factor"
    /// The password that an account has, in contrast to a new password.
    case presentPassword = "present-password"
    case photo = "image"
    /// A phone number in a field whose region is not Korea.
    case internationalPhone = "international-phone"
    /// An e-mail address or a username.
    case identifier
    case link = "ticket"
    /// Any other answer. The message about a missing answer shows the label of the field, if there is one.
    case other

    /// The keys in a file of texts under which ``Messages/message(for:about:label:)`` looks for the message, in this
    /// order, before it looks under `other`.
    var names: [String] {
        switch self {
        case .other: []
        case .internationalPhone: [rawValue, Self.phone.rawValue]
        case .presentPassword: [rawValue, Self.password.rawValue]
        case .authenticator, .secondFactor: [rawValue, Self.code.rawValue]
        default: [rawValue]
        }
    }
}

extension Refusal {
    /// The message for the person.
    ///
    /// - Parameter flow: the flow with the refused field; nil if the refused member does not belong to a flow.
    package func message(in language: Language, of flow: Flow? = nil) -> String {
        let asked = flow?.field(named: field)
        return language.messages.message(
            for: self,
            about: asked?.kind.topic ?? Self.topic(ofMember: field.rawValue) ?? .other,
            label: asked?.labels[language]
        )
    }

    /// The topic of a member of a request that is no field. The member `password` of a sign-in is the password that the
    /// account has, and the page that undoes a change of the address calls its `token` a code.
    private static func topic(ofMember name: String) -> RefusalTopic? {
        switch name {
        case "password": .presentPassword
        case "token", "recovery_code": .code
        default: RefusalTopic(rawValue: name)
        }
    }
}
