/// The form control for a field, in the terms of HTML.
package struct Control: Sendable {
    /// The attribute `type` of an `input` element, or `textarea` or `select` for these elements.
    package let type: String
    /// The attribute `autocomplete` (HTML, “Autofilling form controls”); nil if the control has none.
    package var autocomplete: String?
    /// The attribute `inputmode`, which selects the keyboard that a phone shows; nil for the default of the browser.
    package var inputMode: String?
    /// True if the value, such as a membership number, is not made of words.
    package var isCode = false
}

extension Control {
    /// A value of the HTML attribute `autocapitalize`: which first letters the keyboard of a phone capitalizes.
    package enum Capitalization: String, Sendable {
        case nothing = "none"
        case words, sentences
    }

    /// The attribute `autocapitalize` of the control; nil for the default of the browser.
    package var capitalization: Capitalization? {
        if takesName { return .words }
        if isUnspelled { return .nothing }
        return type == "textarea" ? .sentences : nil
    }

    /// True if the browser must not check the spelling, because correct values, such as names and codes, are not in a
    /// dictionary.
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
    /// The values of `autocomplete` that a flow file may use: `off`, `on`, and the autofill field names of HTML. The
    /// names for payments are missing, because no sign-up should ask for a card. The two parts of `tel-local` are
    /// missing, too.
    static let autocompletes = [
        "off", "on", "name", "honorific-prefix", "given-name", "additional-name", "family-name", "honorific-suffix",
        "nickname", "username", "new-password", "current-password", "one-time-code", "organization-title",
        "organization", "street-address", "address-line1", "address-line2", "address-line3", "address-level4",
        "address-level3", "address-level2", "address-level1", "country", "country-name", "postal-code", "language",
        "bday", "bday-day", "bday-month", "bday-year", "sex", "url", "photo", "tel", "tel-country-code",
        "tel-national", "tel-area-code", "tel-local", "tel-extension", "email", "impp",
    ]
}
