/// The form control for a field, in the terms of HTML.
package struct Control: Sendable {
    /// The type of an `input`, or `textarea`, or `select`.
    package let type: String
    /// The autofill detail token of the value (HTML, “Autofilling form controls”).
    package var autocomplete: String?
    /// The keyboard that a phone shows.
    package var inputMode: String?
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
