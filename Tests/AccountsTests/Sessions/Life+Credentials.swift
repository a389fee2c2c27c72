import Foundation
import TestSupport

@testable import Accounts

/// Sign-ins, sessions, and changes of the password, the authenticator app and the recovery codes.
extension Life {
    mutating func trySignIn() async throws {
        let identifiers = [address, username, "nobody-\(tag)@example.com"] + left.map(\.address)
        let identifier = identifiers.randomElement(using: &chance)!
        let guess = ["the first pass phrase", password ?? "none at all, as it was removed", "a wrong pass phrase"]
            .randomElement(using: &chance)!
        guard case .secret(let secret) = FieldAnswer.password(guess) else { return }
        let isRight = exists && !isDisabled && guess == password && [address, username].contains(identifier)
        let outcome: String
        var waiting: PendingSignIn?
        do throws(SignInError) {
            switch try await signIn().signIn(as: SignInIdentifier(identifier), with: secret) {
            case .session(let new):
                sessions.append(Held(token: new.token))
                outcome = "signed in"
            case .pending(let pending):
                waiting = pending
                outcome = "\(pending.awaits)"
            case .deviceKnown: outcome = "device known"
            }
        } catch {
            outcome = error.word
        }
        let right = app == nil ? "signed in" : "secondFactor"
        try expect(outcome, isRight ? right : "failed", "sign in as \(identifier) with \(guess)")
        if let waiting { try await enterFactor(for: waiting) }
    }

    private mutating func enterFactor(for waiting: PendingSignIn) async throws {
        guard let factor = try await chooseFactor() else { return }
        let outcome: String
        do throws(SignInError) {
            let new = try await signIn().enter(secondFactor(factor), for: waiting.token)
            sessions.append(Held(token: new.token, hasTwoFactors: true))
            use(factor, replacedBy: new.recoveryCode)
            outcome = "signed in"
        } catch {
            outcome = error.word
        }
        try expect(outcome, factor.isRight ? "signed in" : "refused", "enter \(factor)")
    }

    /// A random second factor, right or used; nil if the account has no app.
    mutating func chooseFactor() async throws -> Factor? {
        guard let app else { return nil }
        switch Int.random(in: 0..<6, using: &chance) {
        case 0: if app.usedStep != nil { return .usedApp }
        case 1: if let code = app.usedCodes.randomElement(using: &chance) { return .usedRecoveryCode(code) }
        case 2, 3: if let code = app.codes.randomElement(using: &chance) { return .recoveryCode(code) }
        default: break
        }
        // Resets the last accepted time step, so that the current code of the app is accepted.
        let reset: SQL = "UPDATE authenticators SET last_step = 0 WHERE account = \(account) RETURNING now()"
        let now = try await service.database.transaction(reset)[0].only.decode(Date.self)
        self.app?.usedStep = nil
        return .app(step: TOTP.timeStep(at: now))
    }

    /// The second factor that the person enters.
    func secondFactor(_ factor: Factor) -> SecondFactor {
        switch factor {
        case .app(let step): .totp(TOTP.code(app?.secret ?? [], step: step))
        case .usedApp: .totp(TOTP.code(app?.secret ?? [], step: app?.usedStep ?? 0))
        case .recoveryCode(let code), .usedRecoveryCode(let code): .recoveryCode(code)
        }
    }

    /// Updates the model after the factor was accepted.
    mutating func use(_ factor: Factor, replacedBy new: RecoveryCode?) {
        switch factor {
        case .app(let step): app?.usedStep = step
        case .recoveryCode(let code):
            app?.codes.removeAll { $0.text == code.text }
            app?.codes += [new].compactMap { $0 }
            app?.usedCodes.append(code)
        case .usedApp, .usedRecoveryCode: break
        }
    }

    mutating func checkSession() async throws {
        let index = sessions.indices.randomElement(using: &chance)!
        let outcome: String
        do throws(SignInError) {
            let found = try await signIn().find(sessions[index].token)
            let hasTwoFactors = found.assurance == .aal2
            outcome =
                found.account.email != address || found.account.username != username
                ? "another account" : hasTwoFactors == sessions[index].hasTwoFactors ? "found" : "another assurance"
        } catch {
            outcome = error.word
        }
        try expect(outcome, sessions[index].isValid ? "found" : "no session", "session \(index)")
    }

    /// A random valid session; nil if there is none.
    mutating func usable() async throws -> (index: Int, session: AccountSession)? {
        guard let index = sessions.indices.filter({ sessions[$0].isValid }).randomElement(using: &chance) else {
            return nil
        }
        return (index, try await signIn().find(sessions[index].token))
    }

    mutating func signOut() async throws {
        let index = sessions.indices.randomElement(using: &chance)!
        let hasEnded = try await signIn().end(sessions[index].token)
        try expect("\(hasEnded)", "\(sessions[index].isValid)", "sign out of \(index)")
        sessions[index].isValid = false
    }

    mutating func changePassword() async throws {
        guard let (index, session) = try await usable() else { return }
        let new = "pass phrase \(next("number "))"
        guard let renewed = try await signIn().changePassword(["password": .password(new)], of: session, in: .english)
        else { throw Mismatch(description: "the change of a password has erased the account") }
        log.append("session \(index) changes the password")
        password = new
        hasChanged(by: index, renewed)
    }

    /// Adds an app, or replaces the one that the account has.
    mutating func addApp() async throws {
        guard let (index, session) = try await usable() else { return }
        let enrolment = try await signIn().enrolment(of: session)
        let (secret, step) = (enrolment.secret.base32Bytes, TOTP.timeStep(at: enrolment.now))
        let isPossible = app == nil || sessions[index].hasTwoFactors
        let outcome: String
        do throws(SignInError) {
            let code = TOTP.code(secret, step: step)
            let added = try await signIn().addAuthenticator(code, to: session, in: .english)
            hasChanged(by: index, added.session)
            sessions[index].hasTwoFactors = true
            app = App(secret: secret, usedStep: step, codes: added.codes)
            outcome = "done"
        } catch {
            outcome = error.word
        }
        try expect(outcome, isPossible ? "done" : "no such factor", "session \(index) adds an app")
    }

    mutating func removeApp() async throws {
        guard let (index, session) = try await usable() else { return }
        let isPossible = app != nil && sessions[index].hasTwoFactors
        let outcome: String
        do throws(SignInError) {
            let renewed = try await signIn().removeAuthenticator(of: session, in: .english)
            hasChanged(by: index, renewed)
            app = nil
            outcome = "done"
        } catch {
            outcome = error.word
        }
        try expect(outcome, isPossible ? "done" : "no such factor", "session \(index) removes the app")
    }

    mutating func replaceRecoveryCodes() async throws {
        guard let (index, session) = try await usable() else { return }
        let isPossible = app != nil && sessions[index].hasTwoFactors
        let outcome: String
        do throws(SignInError) {
            let new = try await signIn().newRecoveryCodes(of: session, in: .english)
            hasChanged(by: index, new.session)
            let old = app?.codes ?? []
            app?.usedCodes += old
            app?.codes = new.codes
            outcome = "done"
        } catch {
            outcome = error.word
        }
        try expect(outcome, isPossible ? "done" : "no such factor", "session \(index) replaces the recovery codes")
    }

    /// Updates the model after the session has changed the password, the app or the recovery codes.
    mutating func hasChanged(by index: Int, _ renewed: NewSession?) {
        endSessions(but: index)
        if let renewed { sessions[index].token = renewed.token } else { sessions[index].isValid = false }
        outdate()
    }
}

extension SignInError {
    var word: String {
        switch self {
        case .failed: "failed"
        case .noSession: "no session"
        case .noSuchFactor: "no such factor"
        case .refused: "refused"
        case .limited: "limited"
        default: "\(self)"
        }
    }
}
