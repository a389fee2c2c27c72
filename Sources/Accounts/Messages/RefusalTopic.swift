/// What a refused answer is, so that the message can name it and show an example. The raw value is the name of a kind of
/// field, or of a member of a request that is no field.
package enum RefusalTopic: String, CaseIterable, Sendable {
    case email, phone, username, password, confirmation, code, consent, date, number, choice
    case authenticator = "totp"
    case secondFactor = "second-factor"
    case photo = "image"
    /// A phone number outside Korea.
    case internationalPhone = "international-phone"
    /// An e-mail address or a username.
    case identifier
    case link = "ticket"
    /// Anything else; the message names it by its label, if it has one.
    case other

    /// Its names in a file of texts, in the order in which a message is looked for. The messages for ``other`` serve all.
    var names: [String] {
        switch self {
        case .other: []
        case .internationalPhone: [rawValue, Self.phone.rawValue]
        case .authenticator, .secondFactor: [rawValue, Self.code.rawValue]
        default: [rawValue]
        }
    }
}

extension Refusal {
    /// The message for the person.
    ///
    /// - Parameter flow: the flow with the refused field; nil if the refused member belongs to no flow.
    package func message(in language: Language, of flow: Flow? = nil) -> String {
        let asked = flow?.field(named: field)
        return language.messages.message(
            for: self,
            about: asked?.kind.topic ?? RefusalTopic(rawValue: field.rawValue) ?? .other,
            label: asked?.labels[language]
        )
    }
}
