internal import Foundation

/// The form of the first step, which is shown before there is a draft. The form contains ``text``: an id and a secret.
/// If the form is sent again while it is recent (``isRecent``) and its draft is open, it leads to the same draft,
/// because the token of the draft is derived from this text.
///
/// The derivation needs the keys of the servers, so a person who has only the text cannot compute the token. The draft
/// of a recent form has the same id as the form. Logs contain this id. It does not reveal the secret part of the text.
package struct FirstForm: Sendable {
    private let seed: Token<Draft>

    package init() { seed = Token(for: ID()) }

    /// Returns nil if the text cannot come from a form.
    package init?(_ text: String) {
        guard let seed = Token<Draft>(text) else { return nil }
        self.seed = seed
    }

    package var text: String { seed.text }

    /// Whether the time in the id of the form is less than an hour before or after the present time. A form that is not
    /// recent starts a draft with a new id, because there may be no partition for the day of the form's id.
    var isRecent: Bool { abs(seed.id.madeAt.timeIntervalSinceNow) < 3600 }

    /// The token of the draft under each key of the key ring. A new draft gets the first token.
    func tokens(_ keys: KeyRing) -> [Token<Draft>] {
        seed.digests(for: "token of first form", [], keys).map { Token(for: seed.id, derived: $0) }
    }
}
