internal import Foundation

/// The form of the first step, which is shown before there is a draft. Its text makes the draft that the form starts the
/// same each time that the form is sent.
///
/// The draft gets the id of the form, but not its secret: the token is derived with the keys of the servers, so it cannot
/// be computed from the form, and the form not from the id, which is in logs.
package struct FirstForm: Sendable {
    private let seed: Token<Draft>

    package init() { seed = Token(for: ID()) }

    /// Returns nil for any text that is not that of a form.
    package init?(_ text: String) {
        guard let seed = Token<Draft>(text) else { return nil }
        self.seed = seed
    }

    package var text: String { seed.text }

    /// Whether the form still starts the draft of its id. The partition of an older one may have been dropped.
    var isRecent: Bool { abs(seed.id.madeAt.timeIntervalSinceNow) < 3600 }

    /// The token of the draft under each key of the ring; the first one is for a new draft.
    func tokens(_ keys: KeyRing) -> [Token<Draft>] {
        seed.digests(for: "token of first form", [], keys).map { Token(for: seed.id, derived: $0) }
    }
}
