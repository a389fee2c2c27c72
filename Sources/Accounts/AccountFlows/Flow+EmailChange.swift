extension Flow {
    /// The flow in which a signed-in person proves another address and moves the account to it. Nil unless this flow
    /// has an address that identifies the account, and a code that proves it.
    package var emailChange: Flow? {
        guard let (address, code) = provedIdentifier else { return nil }
        return with(
            .emailChange,
            [
                step("email", .newAddress, .newAddress, [address.required(labeled: texts(.newAddress))], .emailChange),
                step("code", .enterMailedCode, .mailedCode, [code], .emailChange),
            ]
        )
    }
}
