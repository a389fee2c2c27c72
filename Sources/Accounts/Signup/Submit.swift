internal import Foundation

package enum SubmitError: Error {
    /// An earlier required step is missing.
    case locked(next: Step?)
    case refused([Refusal])
    case limited(LimitReached)
    /// The draft is at another revision than the one asked for.
    case stale(Draft)
    case committed
    case find(FindError)
    case hashing(HashingError)
    case image(ImageError)
    /// Too many others write to the same draft.
    case contended
    case database(DatabaseError)
}

/// The draft after an act, and what the act cleared.
package struct Outcome: Sendable {
    package let draft: Draft
    package let cleared: [FieldName]
    /// Where an authenticator was set up: what helps if it is lost, told this one time.
    package var recoveryCodes: [RecoveryCode] = []
}

extension Signups {
    /// Replaces the answers of one step: all of them hold, or nothing changes.
    ///
    /// Two requests that submit different steps at once both succeed: whoever finds the draft changed judges it again as
    /// it now is. A password is hashed and a code is spent once all the same.
    ///
    /// - Parameter revision: the revision that the client saw, if it insists on it.
    package func submit(
        _ answers: JSON,
        to step: Step,
        of draft: Draft,
        at revision: Int? = nil
    ) async throws(SubmitError) -> Outcome {
        var labour = Labour()
        do throws(SubmitError) {
            return try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
                try await self.change(to: step, of: draft, by: answers, &labour)
            }
        } catch {
            if case .refused(let refusals) = error { funnel.refused(refusals, at: step.name, of: flow) }
            throw error
        }
    }

    /// Only what happens for the first time tells how people come along.
    private func count(_ step: Step, before: Draft, after: Draft) {
        let hasMoved = before.flow != flow.id
        let isFirst = after.values.answered.contains(step.name) && !before.values.hasSeen(step.name)
        guard isFirst else {
            // Whoever comes from another version of the flow comes in where they are.
            if hasMoved { funnel.entered(after.step, of: flow) }
            return
        }
        // A step that was not the next may be answered as well.
        if hasMoved || before.step != step.name.rawValue { funnel.entered(step.name.rawValue, of: flow) }
        let isSkipped = step.isOptional && step.fields.allSatisfy { after.values[$0.name] == nil }
        let time = after.updatedAt.timeIntervalSince(before.updatedAt)
        funnel.answered(step.name.rawValue, of: flow, isSkipped: isSkipped, after: time)
        if after.step != before.step, !after.values.hasSeen(StepName(after.step)) {
            funnel.entered(after.step, of: flow)
        }
    }

    /// Why nothing can be written to that step, as far as the draft that was found tells; ``revise(_:_:at:_:)`` looks again.
    package func obstacle(to step: Step, of draft: Draft) -> SubmitError? {
        if draft.account != nil { return .committed }
        if Standing.isLocked(step, in: situation(of: draft)) { return .locked(next: standing(of: draft).next) }
        // A draft begins at revision 1.
        return draft.revision > flow.limits.revisions ? .limited(revisions(of: draft)) : nil
    }

    /// Repeats `change` until it is written to the revision that it was made for. Nil means that there is nothing to do.
    func revise(
        _ draft: Draft,
        _ step: Step,
        at revision: Int?,
        _ change: (Draft) async throws(SubmitError) -> Change?
    ) async throws(SubmitError) -> Outcome {
        var draft = draft
        for _ in 0..<200 {
            if draft.account != nil { throw .committed }
            if let revision, revision != draft.revision {
                // The client may have seen a newer one than we had read.
                draft = try await again(draft)
                guard revision == draft.revision else { throw .stale(draft) }
            }
            if let obstacle = obstacle(to: step, of: draft) { throw obstacle }
            guard let change = try await change(draft) else {
                return Outcome(draft: try await again(draft), cleared: [])
            }
            switch try await attempt(change, on: draft) {
            case .made(let revised):
                count(step, before: draft, after: revised)
                return Outcome(draft: revised, cleared: change.cleared, recoveryCodes: change.recoveryCodes)
            case .taken(let field): throw .refused([Refusal(field, .taken)])
            case .limited(let reached): throw .limited(reached)
            case .overtaken: draft = try await again(draft)
            }
        }
        throw .contended
    }

    /// The draft has changed as often as it may; only its end helps.
    private func revisions(of draft: Draft) -> LimitReached {
        let left = Duration.seconds(max(1, Int(draft.expiresAt.timeIntervalSince(draft.now))))
        return reached("revisions", Limit(flow.limits.revisions, per: flow.absolute), wait: left)
    }

    private func attempt(_ change: Change, on draft: Draft) async throws(SubmitError) -> Revision {
        do throws(DatabaseError) { return try await write(change, to: draft) } catch { throw .database(error) }
    }

    func again(_ draft: Draft) async throws(SubmitError) -> Draft {
        do throws(FindError) { return try await reread(draft) } catch { throw .find(error) }
    }

    /// What is done once, however often the write has to be repeated.
    private struct Labour {
        var hashes: [FieldName: PHCString] = [:]
        var spent: [FieldName: Int] = [:]
        var enrolled: [FieldName: (authenticator: Authenticator, recoveryCodes: [RecoveryCode])] = [:]
        var verdicts: [Question: Bool] = [:]
        var photos: [FieldName: Photo] = [:]

        struct Question: Hashable {
            let word: String
            let hash: String
        }
    }

    private func change(
        to step: Step,
        of draft: Draft,
        by answers: JSON,
        _ labour: inout Labour
    ) async throws(SubmitError) -> Change? {
        let (values, codes, unmet) = judge(answers, to: step, of: draft)
        let refusals = step.sorted(try await unmet + developOnce(values, at: step, of: draft, &labour))
        let isSkipped = step.isOptional && step.isBlank(answers)
        guard refusals.isEmpty || isSkipped else { throw .refused(refusals) }
        var change = Change(values: values)
        change.values.answered.insert(step.name)
        // A code given twice, as by an impatient finger, has done its work the first time.
        var isRepeated = false
        for field in step.fields {
            switch (field.kind, values[field.name]) {
            case (let code as CodeField, _):
                guard let digits = codes[field.name] else { continue }
                isRepeated = true
                if draft.proofs[field.name]?.isProved == true { continue }
                let generation = try await spendOnce(digits, on: field.name, code, of: draft, &labour)
                guard let generation else { continue }
                change.effects.append(.prove(field.name, generation: generation))
            case (is TOTPField, let stored):
                guard let digits = codes[field.name] else { continue }
                isRepeated = true
                if Authenticator(stored: stored) != nil { continue }
                guard let enrolled = try await enrolOnce(digits, field.name, of: draft, &labour) else { continue }
                change.values[field.name] = enrolled.authenticator.stored
                change.recoveryCodes = enrolled.recoveryCodes
                change.effects.append(.enrol(field.name))
            case (let kind as PasswordField, .secret(let password)?):
                let hash = try await hashOnce(password, of: field.name, &labour)
                change.values[field.name] = kind.stored(hash)
            case (is ImageField, .file?):
                if let photo = labour.photos[field.name] { keep(photo, in: field.name, &change) }
            case (is EmailField, let address):
                try prove(address?.string, in: field.name, of: draft, &change)
            case (is UsernameField, let name) where field.isIdentifier:
                change.effects.append(
                    name?.string.map { .lease(field.name, kind: UsernameField.name, name: $0) }
                        ?? .release(kind: UsernameField.name)
                )
            default: continue
            }
        }
        try await clearPasswords(equalTo: step, of: draft, &change, &labour)
        return isRepeated && change.effects.isEmpty && change.values == draft.values ? nil : change
    }

    /// The canonical values after this submission, the codes that came with it, and everything that is wrong with it.
    func judge(
        _ answers: JSON,
        to step: Step,
        of draft: Draft
    ) -> (values: Values, codes: [FieldName: String], refusals: [Refusal]) {
        guard case .object(let members) = answers else { preconditionFailure("answers are an object") }
        var situation = situation(of: draft, answers: answers)
        var codes: [FieldName: String] = [:]
        let unknown = members.map { FieldName($0.name) }.filter { step.field(named: $0) == nil }
        var refusals: [Refusal] = []
        // Passwords come last, when every name that they must not equal is known.
        let isPassword = { (field: Field) in field.kind is PasswordField }
        for field in step.fields.filter({ !isPassword($0) }) + step.fields.filter(isPassword) {
            let answer = answers[field.name.rawValue] ?? .null
            // Whatever an earlier flow file kept under the name goes, also where nothing is kept now.
            let isKept =
                field.kind.isKeptUnlessReplaced
                && field.kind.holds(situation.values[field.name], of: field.name, in: situation)
            if field.kind.isBlank(answer) || field.kind.isTransient, !isKept { situation.values[field.name] = nil }
            if field.kind.isBlank(answer) {
                if field.isRequired, !isKept { refusals.append(Refusal(field.name, .required)) }
                continue
            }
            do throws(Refusals) {
                let canonical = try field.kind.canonical(answer, of: field.name, in: situation)
                switch field.kind {
                case is CodeField, is TOTPField: codes[field.name] = canonical.string
                case let kind where kind.isTransient: continue
                default: situation.values[field.name] = canonical
                }
            } catch {
                refusals += error.all
            }
        }
        return (
            situation.values, codes,
            step.sorted(unknown.prefix(Refusal.mostUnknown).map { Refusal($0, .unknownField) } + refusals)
        )
    }

    private func hashOnce(
        _ password: SharedSecret,
        of field: FieldName,
        _ labour: inout Labour
    ) async throws(SubmitError) -> PHCString {
        if let hash = labour.hashes[field] { return hash }
        do throws(HashingError) {
            let hash = try await hashing.hash(password)
            labour.hashes[field] = hash
            return hash
        } catch {
            throw .hashing(error)
        }
    }

    /// Makes the photos of the images that were sent, and returns what is wrong with those of which none can be made.
    private func developOnce(
        _ values: Values,
        at step: Step,
        of draft: Draft,
        _ labour: inout Labour
    ) async throws(SubmitError) -> [Refusal] {
        var refusals: [Refusal] = []
        for field in step.fields where labour.photos[field.name] == nil {
            guard field.kind is ImageField, case .file(let image)? = values[field.name] else { continue }
            do throws(SubmitError) {
                labour.photos[field.name] = try await photo(of: image, in: field.name, of: draft)
            } catch {
                guard case .refused(let wrong) = error else { throw error }
                refusals += wrong
            }
        }
        return refusals
    }

    private func enrolOnce(
        _ digits: String,
        _ field: FieldName,
        of draft: Draft,
        _ labour: inout Labour
    ) async throws(SubmitError) -> (authenticator: Authenticator, recoveryCodes: [RecoveryCode])? {
        if let enrolled = labour.enrolled[field] { return enrolled }
        let enrolled = try await enrol(digits, field, of: draft)
        labour.enrolled[field] = enrolled
        return enrolled
    }

    private func spendOnce(
        _ digits: String,
        on field: FieldName,
        _ code: CodeField,
        of draft: Draft,
        _ labour: inout Labour
    ) async throws(SubmitError) -> Int? {
        if let spent = labour.spent[field] {
            // The address or the code changed while we wrote.
            guard draft.proofs[field]?.generation == spent else { throw .refused([Refusal(field, .codeExpired)]) }
            return spent
        }
        let generation = try await spend(digits, on: field, code, of: draft)
        labour.spent[field] = generation
        return generation
    }
}

// MARK: - What hangs on an answer

extension Signups {
    /// A new address undoes the proof of the one before and gets a code of its own. The same address again gets one
    /// only where the last cannot be used any more, and no sooner than a resend would.
    private func prove(
        _ address: String?,
        in field: FieldName,
        of draft: Draft,
        _ change: inout Change
    ) throws(SubmitError) {
        if address != draft.values[field]?.string { dropAuthenticator(&change) }
        guard let (codeField, code) = flow.code(proving: field) else {
            // Proofs by codes that have left the flow would hold again if the codes came back.
            if address != draft.values[field]?.string {
                let orphans = draft.proofs.keys.filter { !(flow.field(named: $0)?.kind is CodeField) }
                change.effects += orphans.map { .withdraw($0) }
            }
            return
        }
        let proof = draft.proofs[codeField.name]
        let isSame = address == draft.values[field]?.string
        if !isSame, proof?.isProved == true { change.cleared.append(codeField.name) }
        guard let address else {
            change.effects.append(.withdraw(codeField.name))
            return
        }
        if let proof, addressDigests(address).contains(proof.address) {
            if isSame, proof.isProved || proof.isUsable(by: code, at: draft.now) { return }
            if proof.wait(by: code, at: draft.now) > .zero { return }
        }
        if let proof, proof.isExhausted { throw .refused([.exhausted(field)]) }
        change.effects.append(.sendCode(codeField.name, code, address: address, after: proof?.generation))
    }

    /// It was set up by whoever proved the address before: with another one it has to be set up anew.
    func dropAuthenticator(_ change: inout Change) {
        for step in flow.steps {
            for field in step.fields where field.kind is TOTPField && change.values[field.name] != nil {
                change.values[field.name] = nil
                change.values.answered.remove(step.name)
                change.cleared.append(field.name)
            }
        }
    }

    /// A password was judged against the names known then. Where a new name could equal it, the hash tells.
    private func clearPasswords(
        equalTo step: Step,
        of draft: Draft,
        _ change: inout Change,
        _ labour: inout Labour
    ) async throws(SubmitError) {
        let words = step.fields.flatMap { field -> [String] in
            guard let new = change.values[field.name], new != draft.values[field.name] else { return [] }
            return field.kind.contextWords(of: new)
        }
        for field in flow.fields where step.field(named: field.name) == nil {
            guard let kind = field.kind as? PasswordField, let hash = PasswordField.hash(in: change.values[field.name])
            else { continue }
            for word in words where word.unicodeScalars.count >= kind.policy.minimum {
                guard try await isPassword(word, hash, &labour) else { continue }
                change.values[field.name] = nil
                change.cleared.append(field.name)
                break
            }
        }
    }

    private func isPassword(
        _ word: String,
        _ hash: PHCString,
        _ labour: inout Labour
    ) async throws(SubmitError) -> Bool {
        let question = Labour.Question(word: word, hash: hash.rawValue)
        if let verdict = labour.verdicts[question] { return verdict }
        do throws(HashingError) {
            let verdict = try await hashing.verify(SharedSecret(Secret(normalising: word)), against: hash)
            labour.verdicts[question] = verdict
            return verdict
        } catch {
            // Hashed at a greater cost than is allowed now: it cannot be told, so the password is asked for again.
            if case .tooCostly = error { return true }
            throw .hashing(error)
        }
    }
}

extension Step {
    /// True for no answer at all: an empty object, or a form whose controls were left empty.
    fileprivate func isBlank(_ answers: JSON) -> Bool {
        guard case .object(let members) = answers else { return false }
        return members.allSatisfy { member in
            field(named: FieldName(member.name))?.kind.isBlank(member.value) ?? false
        }
    }

    /// In the order of the fields, after those of no field.
    fileprivate func sorted(_ refusals: [Refusal]) -> [Refusal] {
        refusals.filter { field(named: $0.field) == nil }
            + fields.flatMap { field in refusals.filter { $0.field == field.name } }
    }
}

extension Refusal {
    /// There were too many wrong codes for any other to be sent: the sign-up has to begin again.
    static func exhausted(_ field: FieldName) -> Refusal { Refusal(field, .codeExhausted, ["final": true]) }
}
