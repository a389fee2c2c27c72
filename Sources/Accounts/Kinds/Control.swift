/// The form control for a field, in the terms of HTML.
package struct Control: Sendable {
    /// The type of an `input`, or `textarea`, or `select`.
    package let type: String
    /// The autofill detail token of the value (HTML, “Autofilling form controls”).
    package var autocomplete: String?
    /// The keyboard that a phone shows.
    package var inputMode: String?
    /// True if the value is no text of a language, such as a number with letters.
    package var isCode = false
}

extension Control {
    /// What the keyboard of a phone capitalizes: a value of the attribute `autocapitalize` of HTML.
    package enum Capitalization: String, Sendable {
        case nothing = "none"
        case words, sentences
    }

    /// Nil for the default of the browser.
    package var capitalization: Capitalization? {
        if takesName { return .words }
        if isUnspelled { return .nothing }
        return type == "textarea" ? .sentences : nil
    }

    /// True if a dictionary would find errors in right values.
    package var isUnspelled: Bool {
        isCode || takesName || !["text", "textarea"].contains(type)
            || ["username", "one-time-code", "url", "email", "impp", "postal-code"].contains(autocomplete)
    }

    private var takesName: Bool {
        type == "text"
            && [
                "name", "given-name", "additional-name", "family-name", "nickname", "organization", "street-address",
                "address-line1", "address-line2", "address-line3", "address-level1", "address-level2",
                "address-level3", "address-level4", "country-name",
            ].contains(autocomplete)
    }
}

extension Control {
    /// The autofill field names of HTML, except those of payment cards: no sign-up should ask for them.
    static let autocompletes = [
        "off", "on", "name", "honorific-prefix", "given-name", "additional-name", "family-name", "honorific-suffix",
        "nickname", "username", "new-password", "current-password", "one-time-code", "organization-title",
        "organization", "street-address", "address-line1", "address-line2", "address-line3", "address-level4",
        "address-level3", "address-level2", "address-level1", "country", "country-name", "postal-code", "language",
        "bday", "bday-day", "bday-month", "bday-year", "sex", "url", "photo", "tel", "tel-country-code",
        "tel-national", "tel-area-code", "tel-local", "tel-extension", "email", "impp",
    ]
}
