package import Foundation

/// The latest code of a draft for one field, as commands show it.
package struct SentCode: Sendable {
    package let field: FieldName
    package let sentAt, expiresAt: Date
    /// The time at which the person entered the code; nil until then.
    package let provedAt: Date?
    /// The number of wrong guesses at this code, and the maximum. A right guess counts, too, if the person has cleared
    /// the step since.
    package let wrongGuesses, maximum: Int
    package let state: State

    package enum State: String, Sendable {
        case verified
        case notEntered = "not entered yet"
        case expired
        case usedUp = "used up by wrong guesses"
        /// The draft gets no further code.
        case exhausted = "too many wrong codes"
        /// The draft does not have the address that the code was mailed to.
        case forAnotherAddress = "for an earlier address"
    }
}

extension CodeField {
    package func sentCode(_ field: Field, in draft: Draft) -> SentCode? {
        draft.proofs[field.name].map { proof in
            SentCode(
                field: field.name,
                sentAt: proof.sentAt,
                expiresAt: proof.expiresAt,
                provedAt: proof.provedAt,
                // `proof.attempts` also counts the correct guess.
                wrongGuesses: proof.provedAt == nil ? proof.attempts : max(0, proof.attempts - 1),
                maximum: attempts,
                state: state(of: proof, at: draft.now)
            )
        }
    }

    private func state(of proof: Proof, at now: Date) -> SentCode.State {
        if proof.isProved { return .verified }
        if !proof.isForCurrentAddress { return .forAnotherAddress }
        if proof.isExhausted { return .exhausted }
        if proof.attempts >= attempts { return .usedUp }
        return now < proof.expiresAt ? .notEntered : .expired
    }
}
