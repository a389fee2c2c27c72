/// The messages about refused answers in English.
extension English {
    func message(for refusal: Refusal, about topic: RefusalTopic, label: String?) -> String {
        let min = refusal.number("min")
        let max = refusal.number("max")
        return switch refusal.code {
        case .required: required(topic, label)
        case .unknownField: "There's no such field here."
        case .wrongType: "This isn't the right type of value."
        case .tooShort: min.map { "Use at least \(counted($0, "character"))." } ?? "Use more characters."
        case .tooLong: max.map { "Use at most \(counted($0, "character"))." } ?? "Use fewer characters."
        case .badFormat: badFormat(topic, digits: refusal.number("digits"))
        case .badCharacters: badCharacters(topic)
        case .common: "This password is too common or has been leaked, so it's easy to guess. Choose another one."
        case .containsIdentifier: "Choose a password that isn't your email address, your username or our name."
        case .mismatch: "The passwords don't match."
        case .taken: topic == .username ? "That username is taken." : "That's already taken. Choose another one."
        case .reserved:
            topic == .username ? "That username isn't available." : "That isn't available. Choose another one."
        case .notAccepted: "Check this box to continue."
        case .notAllowed: notAllowed(topic, min, max)
        case .impossibleDate: "That date doesn't exist."
        case .inFuture: "Enter a date in the past."
        case .tooYoung:
            min.map { "You need to be at least \(counted($0, "year")) old." } ?? "You're not old enough to sign up."
        case .tooOld: "That date is too long ago. Check the year."
        case .passwordWrong: "That password isn't right."
        case .codeWrong where refusal.number("attempts_left") == 0: "Too many wrong codes. Request a new one."
        case .codeWrong: "That code isn't right.\(attemptsLeft(refusal))"
        case .codeExpired where topic == .link: "This link has expired or was already used."
        case .codeExpired: "This code has expired. Request a new one."
        case .codeExhausted where refusal.params["final"] == true: "Too many wrong codes. Please start over."
        case .codeExhausted where refusal.params["new_secret"] == true:
            "Too many wrong codes. Set up your authenticator app again with the new QR code."
        case .codeExhausted: "Too many wrong codes. Request a new one."
        case .tooLarge: "This photo is too large. Choose one of up to 5 MB and 40 megapixels."
        case .unsupportedImage: "This photo can't be used. Choose a JPEG, PNG or WebP that isn't animated."
        }
    }

    private func required(_ topic: RefusalTopic, _ label: String?) -> String {
        switch topic {
        case .email: "Enter your email address."
        case .phone, .internationalPhone: "Enter your phone number."
        case .username: "Enter a username."
        case .password: "Enter your password."
        case .confirmation: "Enter your password again."
        case .code, .authenticator, .secondFactor: "Enter the code."
        case .identifier: "Enter your email address or username."
        case .date: "Enter a date."
        case .number: "Enter a number."
        case .choice: "Choose an option."
        case .photo: "Choose a photo."
        case .consent: "Check this box to continue."
        // The label may be a question, which cannot be the subject of a sentence.
        case .link, .other: label.map { "This field is required: \($0)" } ?? "This field is required."
        }
    }

    private func badFormat(_ topic: RefusalTopic, digits: Int?) -> String {
        switch topic {
        case .email: "Enter an email address like name@example.com."
        case .phone: "Enter a phone number like 010-1234-5678."
        case .internationalPhone: "Enter a phone number like +1 201-555-0123."
        case .username: "Start with a letter, and don't put two of . - _ next to each other."
        case .date: "Enter a date like 2001-02-28."
        case .secondFactor: "Enter the 6-digit code from the app, or a recovery code."
        case .link: "This link is incomplete. Open the full link from the email."
        case .code, .authenticator: digits.map { "Enter the \($0)-digit code." } ?? "Enter the code as it's written."
        case .password, .confirmation, .identifier, .number, .choice, .photo, .consent, .other:
            "This doesn't look right. Check it and try again."
        }
    }

    private func badCharacters(_ topic: RefusalTopic) -> String {
        switch topic {
        case .email: "Enter an email address like name@example.com."
        case .phone, .internationalPhone: "Use only digits, spaces and + - ( ) . /"
        case .username: "Use only letters from A to Z, digits, dots, - and _"
        default: "Remove the characters that can't be used here."
        }
    }

    private func notAllowed(_ topic: RefusalTopic, _ min: Int?, _ max: Int?) -> String {
        if let min, let max { return "Enter a whole number from \(min) to \(max)." }
        return topic == .choice ? "Choose one of the options." : "This can't be used here. Choose another one."
    }

    func tooOften(_ wait: RoundedWait) -> String {
        let time =
            switch wait {
            case .seconds(let number): counted(number, "second")
            case .minutes(let number): counted(number, "minute")
            case .hours(let number): counted(number, "hour")
            }
        return "Too many attempts. Try again in \(time)."
    }

    private func attemptsLeft(_ refusal: Refusal) -> String {
        refusal.number("attempts_left").map { " You have \(counted($0, "attempt")) left." } ?? ""
    }
}
