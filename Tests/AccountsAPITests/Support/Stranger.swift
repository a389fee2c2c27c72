import Accounts
import TestSupport

/// A person with a given network and without a device that an account knows. It calls the library, because all HTTP
/// requests of a test come from one network.
struct Stranger {
    private let sessions: Sessions

    struct Outcome {
        let slug: String
        var token: Token<PendingSignIn>?
    }

    init(_ site: TestServer, at address: String) throws {
        guard let network = IPAddress(address).map({ Network($0) }) else { throw Missing() }
        sessions = Sessions(signups: site.service.signups, failureTime: .zero).from(
            network,
            SessionClient(browser: nil, device: nil)
        )
    }

    func signIn(
        _ identifier: String = "kim@example.com",
        _ password: String = "a pass phrase of mine"
    ) async throws -> Outcome {
        guard case .secret(let secret) = FieldAnswer.password(password) else { throw Missing() }
        do throws(SignInError) {
            let progress = try await sessions.signIn(as: SignInIdentifier(identifier), with: secret)
            if case .pending(let pending) = progress { return Outcome(slug: "pending", token: pending.token) }
            return Outcome(slug: "session")
        } catch {
            return Outcome(slug: Self.slug(of: error))
        }
    }

    /// Signs in with the right password, and then guesses five codes of the app.
    func guessSecondFactor(_ code: String) async throws -> [String] {
        guard let token = try await signIn().token else { throw Missing() }
        var slugs: [String] = []
        for _ in 1...5 {
            do throws(SignInError) {
                _ = try await sessions.enter(.totp(code), for: token)
                slugs.append("session")
            } catch {
                slugs.append(Self.slug(of: error))
            }
        }
        return slugs
    }

    /// Asks for a code, and guesses it five times.
    func guessMailedCode(of identifier: String) async throws {
        let token = try await sessions.mailCode(to: SignInIdentifier(identifier), in: .english).token
        for _ in 1...5 { _ = try? await sessions.enterCode("000000", for: token) }
    }

    private static func slug(of error: SignInError) -> String {
        switch error {
        case .failed: "sign-in-failed"
        case .codeRequired: "code-required"
        case .refused: "validation-failed"
        default: "\(error)"
        }
    }
}
