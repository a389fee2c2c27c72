/// The explanation of a problem type or a field code in the reference for integrators, in English. Texts that programs
/// exchange, such as `If-Match`, are between backticks.
struct Explanation: Hashable, Sendable {
    /// The cases in which the service answers with this problem or code.
    let meaning: String
    /// The action that the client should take.
    let remedy: String
}
