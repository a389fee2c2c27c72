extension Flow {
    /// The flows ``recovery`` and ``emailChange``, without those that are nil.
    package var changes: [Flow] { [recovery, emailChange].compactMap { $0 } }

    /// The names of the steps at which drafts can be: the steps of the sign-up, the steps of the other flows, such as
    /// `recovery/code`, and the reviews.
    package var draftSteps: [String] {
        ([self] + changes).flatMap { flow in
            (flow.steps.map(\.name.rawValue) + ["review"]).map { flow.purpose.prefix + $0 }
        }
    }

    /// Whether people can replace a forgotten password.
    package var hasRecovery: Bool { provedIdentifier != nil && newPassword != nil }

    /// Whether people sign in with a password, and can replace it if they have forgotten it.
    package var recoversSignIn: Bool { hasRecovery && signIn.methods.contains(.password) }

    /// The flow that replaces a forgotten password: the person proves the address, enters a second factor if the
    /// account has an authenticator app, and chooses a new password. The fields for the address, the code, the password
    /// and its repetition keep their names and kinds, and all but the code become required; the field `second_factor`
    /// is new. Nil unless this flow has an address that identifies the account, a code that proves the address, and a
    /// password.
    package var recovery: Flow? {
        guard let (address, code) = provedIdentifier, let password = newPassword else { return nil }
        let confirmation = fields.first { $0.kind.repeatedField == password.name }
        let factor = Field(
            name: "second_factor",
            kind: SecondFactorField(after: code.name),
            isRequired: true,
            isIdentifier: false,
            labels: texts(.codeOrRecoveryCode),
            helps: texts(.secondFactorHelp),
            control: SecondFactorField.textControl
        )
        var passwords = [password.required(labeled: texts(.newPassword))]
        if let confirmation { passwords.append(confirmation.required(labeled: texts(.newPasswordAgain))) }
        return with(
            .recovery,
            [
                step("email", .yourAddress, .address, [address.required(labeled: address.labels)], .recovery),
                step("code", .enterMailedCode, .mailedCode, [code], .recovery),
                step("second-factor", .secondFactor, .authenticator, [factor], .recovery),
                step("password", .newPassword, .newPassword, passwords, .recovery),
            ]
        )
    }

    /// The password field, not the field in which the person repeats the password; nil if this flow has none.
    private var newPassword: Field? { fields.first { $0.kind.takesSecret && $0.kind.repeatedField == nil } }

    /// - Parameter short: the title of the step in a list of steps.
    func step(_ name: StepName, _ title: Word, _ short: Word, _ fields: [Field], _ purpose: FlowPurpose) -> Step {
        Step(
            name: name,
            isOptional: false,
            titles: texts(title),
            shortTitles: texts(short),
            fields: fields,
            root: purpose.path
        )
    }

    func texts(_ word: Word) -> [Language: String] {
        Dictionary(uniqueKeysWithValues: languages.map { ($0, $0.messages.text(word)) })
    }
}

extension Field {
    /// A copy of the field that is required and has those labels.
    func required(labeled labels: [Language: String]) -> Field {
        Field(
            name: name,
            kind: kind,
            isRequired: true,
            isIdentifier: isIdentifier,
            labels: labels,
            helps: helps,
            control: control,
            shortLabels: shortLabels
        )
    }
}
