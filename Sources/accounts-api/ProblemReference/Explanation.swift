/// What the reference for integrators says about a problem type or a field code, in English. Names from the protocol
/// stand between backticks.
struct Explanation: Hashable, Sendable {
    /// When the service answers with it.
    let meaning: String
    /// What the client does about it.
    let remedy: String
}
