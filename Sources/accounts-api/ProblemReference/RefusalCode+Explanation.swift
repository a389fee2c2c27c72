import Accounts

/// The switches have no `default`, so that the compiler requires an explanation of each new field code.
extension Refusal.Code {
    var explanation: Explanation {
        switch self {
        case .required:
            Explanation(meaning: "The field needs an answer, and there is none.", remedy: "Ask for a value.")
        case .unknownField:
            Explanation(
                meaning: """
                    The step has no field, or the body no member, of this name. At most 32 such names are reported.
                    """,
                remedy: "Leave the member out. `GET /signup/schema` lists the fields of each step."
            )
        case .wrongType:
            Explanation(
                meaning: "The value has another JSON type than the field takes; `expected` names the right one.",
                remedy: "Send a value of that type. `file` means an image, which JSON cannot carry."
            )
        case .tooShort:
            Explanation(
                meaning: "The value has `actual` characters and needs at least `min`.",
                remedy: "Ask for a longer value."
            )
        case .tooLong:
            Explanation(
                meaning: """
                    The value is longer than `max`: in bytes for e-mail addresses, phone numbers, identifiers, \
                    tickets and codes; otherwise in characters.
                    """,
                remedy: "Ask for a shorter value."
            )
        case .badFormat:
            Explanation(
                meaning: """
                    The value is not written as the field requires: for example not an e-mail address, phone number, \
                    username or date, a code whose number of digits is not `digits`, or a text that does not match the \
                    pattern. `example` is a text that matches it.
                    """,
                remedy: "Show the format, and ask again."
            )
        case .badCharacters:
            Explanation(
                meaning: """
                    The value contains characters that the field does not permit, such as control characters, or a \
                    text contains only invisible characters.
                    """,
                remedy: "Ask for the value without them."
            )
        case .common:
            Explanation(
                meaning: """
                    The password is on a list of common or leaked passwords, or is a repetition, a sequence or a \
                    keyboard pattern.
                    """,
                remedy: "Ask for another password; several unrelated words are a good one."
            )
        case .containsIdentifier:
            Explanation(
                meaning:
                    "The password is the e-mail address or its local part, the username, or the name of the service.",
                remedy: "Ask for another password."
            )
        case .mismatch:
            Explanation(
                meaning: "The confirmation is not equal to the password.",
                remedy: "Ask for the confirmation again, and send it together with the password."
            )
        case .taken:
            Explanation(
                meaning: "Another account, or another sign-up, has this username.",
                remedy: "Ask for another username."
            )
        case .reserved:
            Explanation(
                meaning: "The username is reserved for the service, or looks like a reserved one.",
                remedy: "Ask for another username."
            )
        case .notAccepted:
            Explanation(
                meaning: "The person has not accepted a document that the flow requires.",
                remedy: """
                    Show the document, and send `true` when the person accepts it. A person who does not accept it \
                    gets no account.
                    """
            )
        case .notAllowed:
            Explanation(
                meaning: """
                    The value is not one of the permitted ones: not an option of the choice, or a number outside `min` \
                    to `max`. A new code is not allowed when the address is proved already.
                    """,
                remedy: "Offer the permitted values, which are in the `rules` of the field."
            )
        case .impossibleDate:
            Explanation(meaning: "The calendar has no such day.", remedy: "Ask for the date again.")
        case .inFuture:
            Explanation(
                meaning: "The date is in the future, which the field does not permit.",
                remedy: "Ask for the date again."
            )
        case .unchanged:
            Explanation(
                meaning: "The account already has this address, or this password.",
                remedy: "Ask for another one, or cancel the change."
            )
        case .tooYoung:
            Explanation(
                meaning: "The person is younger than `min` years.",
                remedy: "Tell the person the minimum age. A mistyped date can be corrected."
            )
        case .tooOld:
            Explanation(
                meaning: "More than `max` complete years have passed since the date.",
                remedy: "Ask for the date again; usually the year is mistyped."
            )
        case .passwordWrong:
            Explanation(
                meaning: "The password is not that of the account.",
                remedy: """
                    Ask for the password again. After ten wrong answers in a row, the next attempt ends the session, \
                    even if it is right.
                    """
            )
        case .codeWrong:
            Explanation(
                meaning: """
                    The code is not the right one. `attempts_left` guesses are left. In a sign-up, a code is \
                    refused without `attempts_left` if another code was accepted before; the refused code did not \
                    count as a guess. A wrong code for the second factor of a recovery, for a confirmation, or for a new \
                    authenticator app of an account is always refused without `attempts_left`.
                    """,
                remedy: """
                    Ask for the code again. With no guess left, request a new code. If a code was accepted before \
                    in the sign-up, continue: the accepted code still counts.
                    """
            )
        case .codeExpired:
            Explanation(
                meaning: "The code or the link is too old, was used, or was replaced by a newer one.",
                remedy: """
                    Request a new code with `POST /signup/<step>/resend`. For a link to another device, request a \
                    new one with `POST /signup/handoff` on the device that has the sign-up. For a ticket, open the \
                    latest mail with a code, or start again. The link that undoes a change of address cannot be renewed.
                    """
            )
        case .codeExhausted:
            Explanation(
                meaning: """
                    There were too many wrong codes. `final` is true when no further code can complete this sign-up \
                    or this sign-in; `new_secret` is true when the authenticator app needs a new secret.
                    """,
                remedy: """
                    Request a new code. With `final`, begin the sign-up or the sign-in again. With `new_secret`, \
                    read the step again and show the new secret.
                    """
            )
        case .tooLarge:
            Explanation(
                meaning: "The image has more than `max_bytes` bytes or more than `max_pixels` pixels.",
                remedy: "Scale the image down, and upload it again."
            )
        case .unsupportedImage:
            Explanation(
                meaning: "The file is not a complete, still JPEG, PNG or WebP image.",
                remedy: "Ask for another file, or convert the image."
            )
        }
    }

    /// The members that `params` may have.
    var params: [String] {
        switch self {
        case .wrongType: ["expected"]
        case .tooShort: ["actual", "min"]
        case .tooLong: ["actual", "max"]
        case .badFormat: ["digits", "example"]
        case .notAllowed: ["max", "min"]
        case .tooYoung: ["min"]
        case .tooOld: ["max"]
        case .codeWrong: ["attempts_left"]
        case .codeExhausted: ["final", "new_secret"]
        case .tooLarge: ["max_bytes", "max_pixels"]
        case .required, .unknownField, .badCharacters, .common, .containsIdentifier, .mismatch, .taken, .unchanged,
            .reserved,
            .passwordWrong, .notAccepted, .impossibleDate, .inFuture, .codeExpired, .unsupportedImage:
            []
        }
    }
}
