import Foundation
import TestSupport

@testable import Accounts

/// Recoveries, changes of the address and the username, acts of operators, and the check of the rows of the account.
extension Life {
    mutating func startRecovery() async throws {
        let addresses = [address, address, "nobody-\(tag)@example.com"] + left.map(\.address)
        let typed = addresses.randomElement(using: &chance)!
        let signups = following(.recovery)
        let before = mails(to: typed)
        let (empty, token) = try await signups.start(in: .english)
        let sent = try await signups.submit(["email": .string(typed)], to: signups.flow.steps[0], of: empty).draft
        log.append("a recovery for \(typed)")
        guard exists, !isDisabled, typed == address else { return }
        recoveryMails.append(typed)
        let code = try await codeOfRecovery(to: typed, after: before)
        let draft = try await signups.submit(["code": .string(code)], to: signups.flow.steps[1], of: sent).draft
        recoveries.append(Open(draft: draft, token: token, address: typed, needsSecondFactor: app != nil))
    }

    /// Waits for the mail of the recovery, and returns its code. Other mails to the address, such as a notice, may
    /// arrive before it.
    private func codeOfRecovery(to address: String, after earlier: Int) async throws -> String {
        while true {
            try await service.deliver()
            let new = service.mailbox.mails(to: address).dropFirst(earlier)
            if let mail = new.last(where: { $0.subject == Self.recoverySubject }),
                let code = Mailbox.code(in: mail.text)
            {
                return code
            }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    mutating func finishRecovery() async throws {
        guard let index = recoveries.indices.randomElement(using: &chance) else { return }
        let open = recoveries.remove(at: index)
        let signups = following(.recovery)
        let new = "pass phrase \(next("number "))"
        let isPossible = open.isCurrent && exists && !isDisabled
        let outcome: String
        do {
            let step = signups.flow.steps[3]
            let draft = open.needsSecondFactor ? try await enterFactor(in: open.draft, of: signups) : open.draft
            let answered = try await signups.submit(["password": .password(new)], to: step, of: draft).draft
            let commit = try await signups.commit(answered, signingIn: Self.client(open.token))
            endSessions()
            if let session = commit.session {
                sessions.append(Held(token: session.token, hasTwoFactors: open.needsSecondFactor))
            }
            password = new
            outdate()
            outcome = "recovered"
        } catch SubmitError.find(.ended(.superseded)), CommitError.find(.ended(.superseded)) {
            outcome = "superseded"
        }
        try expect(outcome, isPossible ? "recovered" : "superseded", "finish the recovery for \(open.address)")
    }

    /// Enters second factors until one is accepted. Throws if the recovery is superseded, for example because the
    /// account has no app any more.
    private mutating func enterFactor(in draft: Draft, of signups: Signups) async throws -> Draft {
        var accepted: Draft?
        while accepted == nil { accepted = try await tryFactor(in: draft, of: signups) }
        return accepted!
    }

    /// The text that the person types; an arbitrary code if the account has no app.
    private func text(of factor: Factor?) -> String {
        guard let factor else { return "123456" }
        switch secondFactor(factor) {
        case .totp(let digits): return digits
        case .recoveryCode(let code): return code.text
        }
    }

    /// Submits a random second factor. Nil if it was refused.
    private mutating func tryFactor(in draft: Draft, of signups: Signups) async throws -> Draft? {
        let factor = try await chooseFactor()
        let answers: Answers = ["second_factor": .string(text(of: factor))]
        let submitted: Outcome?
        do throws(SubmitError) {
            submitted = try await signups.submit(answers, to: signups.flow.steps[2], of: draft)
        } catch {
            guard case .refused = error else { throw error }
            submitted = nil
        }
        let expected = factor?.isRight == false ? "refused" : "accepted"
        let name = factor.map { "\($0)" } ?? "no app"
        try expect(submitted == nil ? "refused" : "accepted", expected, "\(name) in the recovery")
        if let factor, let submitted { use(factor, replacedBy: submitted.recoveryCodes.first) }
        return submitted?.draft
    }

    mutating func startChange() async throws {
        guard let (index, session) = try await usable() else { return }
        let signups = following(.emailChange)
        let new = "\(next("a"))@example.com"
        let outcome: String
        do throws(StartError) {
            let (empty, token) = try await signups.startChange(by: session, in: .english)
            outcome = "started"
            changes.append(Open(draft: empty, token: token, session: index, address: new))
        } catch {
            if case .limited = error { outcome = "limited" } else { outcome = error.summary }
        }
        try expect(outcome, isPaused ? "limited" : "started", "session \(index) wants to move to \(new)")
        guard outcome == "started", let open = changes.popLast() else { return }
        let steps = signups.flow.steps
        let sent = try await signups.submit(["email": .string(new)], to: steps[0], of: open.draft).draft
        let code = try await Self.code(for: new, 0, service)
        let draft = try await signups.submit(["code": .string(code)], to: steps[1], of: sent).draft
        changes.append(Open(draft: draft, token: open.token, session: index, address: new))
    }

    mutating func finishChange() async throws {
        guard let index = changes.indices.randomElement(using: &chance) else { return }
        let open = changes.remove(at: index)
        let isValid = open.session.map { sessions[$0].isValid } ?? false
        let isPossible = open.isCurrent && exists && !isDisabled && isValid && !isPaused
        let outcome: String
        do throws(CommitError) {
            let commit = try await following(.emailChange).commit(open.draft, signingIn: Self.client(open.token))
            outcome = commit.account.email == open.address ? "moved" : "another address"
            endSessions(but: open.session)
            if let kept = open.session, let session = commit.session { sessions[kept].token = session.token }
        } catch {
            if case .find(.ended(.superseded)) = error { outcome = "superseded" } else { outcome = error.summary }
        }
        try expect(outcome, isPossible ? "moved" : "superseded", "move to \(open.address)")
        guard isPossible else { return }
        left.append(Left(address: address, token: try await link(to: address)))
        address = open.address
        isPaused = true
        outdate()
    }

    private func link(to address: String) async throws -> AddressToken {
        while true {
            try await service.deliver()
            if let text = try? service.mailbox.undoToken(for: address), let token = AddressToken(text),
                !usedLinks.contains(where: { $0.id == token.id }), !left.contains(where: { $0.token.id == token.id })
            {
                return token
            }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    mutating func undo() async throws {
        let links = left.map(\.token) + usedLinks
        guard let token = links.randomElement(using: &chance) else { return }
        let index = left.firstIndex { $0.token.id == token.id }
        let outcome: String
        do throws(SignInError) {
            try await signIn().restoreAddress(token)
            outcome = "restored"
        } catch {
            outcome = error.word
        }
        let isPossible = exists && index != nil
        try expect(
            outcome,
            isPossible ? "restored" : "refused",
            "the link of \(index.map { left[$0].address } ?? "before")"
        )
        guard isPossible, let index else { return }
        address = left[index].address
        usedLinks += left[index...].map(\.token)
        left.removeSubrange(index...)
        password = nil
        app = nil
        isPaused = false
        endSessions()
        outdate()
    }

    mutating func letADayPass() async throws {
        _ = try await service.database.transaction(
            "UPDATE address_changes SET changed_at = changed_at - interval '25 hours' WHERE account = \(account)"
        )
        isPaused = false
        log.append("a day passes")
    }

    mutating func rename() async throws {
        guard let (index, session) = try await usable() else { return }
        let new = next("u")
        let step = service.signups.flow.editableSteps[0]
        let changed = try await signIn().edit(["username": .string(new)], in: step, of: session, in: .english)
        username = new
        try expect(changed.username ?? "none", new, "session \(index) takes another name")
    }

    mutating func administrate() async throws {
        let mina = Operator(service.signups, name: "mina")
        switch Int.random(in: 0..<4, using: &chance) {
        case 0:
            let wasEnabled = try await mina.disable(account)
            try expect("\(wasEnabled, default: "none")", exists ? "\(!isDisabled)" : "none", "disable")
            if wasEnabled == true { outdate() }
            isDisabled = true
            endSessions()
        case 1, 2:
            let wasDisabled = try await mina.enable(account)
            try expect("\(wasDisabled, default: "none")", exists ? "\(isDisabled)" : "none", "enable")
            if wasDisabled == true { outdate() }
            isDisabled = false
        default:
            guard let (index, session) = try await usable() else { return }
            let outcome: String
            do throws(SignInError) {
                try await signIn().eraseAccount(of: session, in: .english)
                outcome = "erased"
            } catch {
                outcome = error.word
            }
            try expect(outcome, isPaused ? "limited" : "erased", "session \(index) erases the account")
            if isPaused { return }
            exists = false
            app = nil
            endSessions()
            outdate()
        }
    }

    /// Throws if the rows of the account are not as the model predicts.
    mutating func checkRows() async throws {
        let rows = try await service.database.transaction(
            "SELECT value FROM identifiers WHERE account = \(account) AND reserved_until IS NULL ORDER BY value",
            "SELECT value FROM identifiers WHERE account = \(account) AND reserved_until IS NOT NULL ORDER BY value",
            "SELECT count(*) FROM sessions WHERE account = \(account)",
            "SELECT count(*) FROM address_changes WHERE account = \(account)",
            "SELECT count(*) FROM authenticators WHERE account = \(account)",
            "SELECT digest FROM recovery_codes WHERE account = \(account)"
        )
        let used = try rows[0].map { row throws(DatabaseError) in try row.decode(String.self) }
        let reserved = try rows[1].map { row throws(DatabaseError) in try row.decode(String.self) }
        try expect("\(used)", "\(exists ? [address, username].sorted() : [])", "identifiers")
        try expect("\(reserved)", "\(exists ? left.map(\.address).sorted() : [])", "reserved addresses")
        let valid = sessions.count { $0.isValid }
        try expect("\(try rows[2].only.decode(Int.self))", "\(valid)", "sessions")
        try expect("\(try rows[3].only.decode(Int.self))", "\(exists ? left.count : 0)", "links")
        try expect("\(try rows[4].only.decode(Int.self))", app == nil ? "0" : "1", "apps")
        let digests = try rows[5].map { row throws(DatabaseError) in try row.decode([UInt8].self) }
        let hasThem = Set(digests) == Set((app?.codes ?? []).map(\.digest)) && digests.count == app?.codes.count ?? 0
        try expect("\(digests.count) \(hasThem)", app == nil ? "0 true" : "10 true", "recovery codes")
    }
}
