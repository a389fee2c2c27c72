@testable import Accounts

/// A model that predicts what the library does in a sign-up. It consists of plain dictionaries and loops, because it
/// must be simple and need not be fast.
struct SignupModel {
    var flow: RandomFlow
    private var held: [FieldName: RandomAnswer.Meaning] = [:]
    private var answered: Set<StepName> = []
    private(set) var codes: [FieldName: SentCode] = [:]
    /// The number of mails to each address.
    private(set) var mails: [String: Int] = [:]
    /// The seconds since the last mail to each address.
    private var mailAges: [String: Int] = [:]

    /// The last code that was sent for a code field.
    struct SentCode {
        let address: String
        /// Nil until the test has read the mail.
        var digits: String?
        var age = 0
        var attempts = 0
        var isWithdrawn = false
        var isProved = false
    }

    init(flow: RandomFlow) {
        self.flow = flow
    }
}

// MARK: - Validation

extension RandomFlow.Field {
    /// Why the field refuses the answer; nil if it accepts it. `submit` checks the rules that depend on other fields.
    func fault(of meaning: RandomAnswer.Meaning) -> Refusal.Code? {
        switch (rule, meaning) {
        case (_, .nothing): return isRequired ? .required : nil
        case (_, .nonsense(let code)): return code
        case (.email, .address), (.username, .name), (.code, .digits), (.confirmation, .repetition): return nil
        case (.text(let min, let max, let isMultiline), .text(let text)):
            if text.contains("\n"), !isMultiline { return .badCharacters }
            return text.count < min ? .tooShort : text.count > max ? .tooLong : nil
        case (.number(let min, let max), .number(let number)): return number < min || number > max ? .notAllowed : nil
        case (.date(let min, let max), .birth(_, let age)): return age < min ? .tooYoung : age > max ? .tooOld : nil
        case (.choice(let options, isMultiple: false), .option(let option)):
            return options.contains(option) ? nil : .notAllowed
        case (.choice(let options, isMultiple: true), .options(let chosen)):
            return chosen.allSatisfy(options.contains) ? nil : .notAllowed
        case (.consent, .agreement(let isAccepted, _)): return isRequired && !isAccepted ? .notAccepted : nil
        case (.password, .password(let password)): return password.count < 15 ? .tooShort : nil
        default: return .wrongType
        }
    }

    /// The stored form of an answer; nil if nothing is stored. A consent gets the version of its document, and several
    /// options get the order of the flow file.
    func kept(_ meaning: RandomAnswer.Meaning) -> RandomAnswer.Meaning? {
        switch (rule, meaning) {
        case (.consent(let version), .agreement(let isAccepted, _)): .agreement(isAccepted, to: version)
        case (.choice(let options, isMultiple: true), .options(let chosen)): .options(options.filter(chosen.contains))
        default: meaning.stored == nil ? nil : meaning
        }
    }
}

// MARK: - Progress

extension SignupModel {
    /// True if the field has a valid value; a consent must also have the current version. A code field needs a proved
    /// address instead, and a confirmation needs a stored password.
    func holds(_ field: RandomFlow.Field) -> Bool {
        switch (field.rule, held[field.name]) {
        case (.code, _): return isProved(field.name)
        case (.confirmation(let password), _): return held[password] != nil
        case (_, nil): return false
        case (.consent(let version), .agreement(_, let agreed)?) where agreed != version: return false
        case (_, let value?): return field.fault(of: value) == nil
        }
    }

    func isProved(_ code: FieldName) -> Bool {
        guard let sent = currentCode(code) else { return false }
        return sent.isProved
    }

    /// The last code for the field if it was sent to the current address; otherwise nil.
    private func currentCode(_ field: FieldName) -> SentCode? {
        guard case .code(let proves, _)? = flow.field(named: field)?.rule, case .address(let address)? = held[proves],
            let sent = codes[field], sent.address == address
        else { return nil }
        return sent
    }

    /// True if a field of the step has an invalid value.
    private func isInvalid(_ step: RandomFlow.Step) -> Bool {
        step.fields.contains { held[$0.name] != nil && !holds($0) }
    }

    /// True if no field has an invalid value, and every required field has a valid one. A step without required fields
    /// must have been submitted.
    private func isFilled(_ step: RandomFlow.Step) -> Bool {
        let required = step.fields.filter(\.isRequired)
        if isInvalid(step) { return false }
        return required.isEmpty ? answered.contains(step.name) : required.allSatisfy(holds)
    }

    /// True if the step is optional and was submitted without values.
    private func isSkipped(_ step: RandomFlow.Step) -> Bool {
        let isEmpty = step.fields.allSatisfy { held[$0.name] == nil && !holds($0) }
        return step.isOptional && answered.contains(step.name) && isEmpty
    }

    private func isMet(_ step: RandomFlow.Step) -> Bool { isFilled(step) || isSkipped(step) }

    /// True if an earlier step is incomplete and not optional.
    func isLocked(_ step: RandomFlow.Step) -> Bool {
        for earlier in flow.steps {
            if earlier.name == step.name { return false }
            if !earlier.isOptional, !isFilled(earlier) { return true }
        }
        preconditionFailure("the flow has no such step")
    }

    /// The first step that must still be filled or skipped; nil if there is none.
    var next: RandomFlow.Step? { flow.steps.first { !isMet($0) } }

    private func state(of step: RandomFlow.Step) -> StepState {
        if isLocked(step) { return .locked }
        if isInvalid(step) { return .invalid }
        if isMet(step) { return .complete }
        if step.isOptional { return .optional }
        return next == step ? .current : .open
    }

    /// The expected state of the draft, as text that tests compare with the state that the library reports.
    var report: String {
        let required = flow.steps.filter { !$0.isOptional }
        let missing = required.flatMap(\.fields).filter { $0.isRequired && !holds($0) }.map(\.name)
        let done = required.count(where: isFilled)
        let isReady = done == required.count && !flow.steps.contains(where: isInvalid)
        return Self.report(
            states: flow.steps.map { ($0.name, state(of: $0)) },
            next: next?.name,
            missing: missing,
            progress: (done, required.count),
            isReady: isReady,
            values: held.compactMapValues(\.stored),
            proved: flow.fields.map(\.name).filter(isProved)
        )
    }

    static func report(
        states: [(StepName, StepState)],
        next: StepName?,
        missing: [FieldName],
        progress: (done: Int, total: Int),
        isReady: Bool,
        values: [FieldName: JSON],
        proved: [FieldName]
    ) -> String {
        let values = JSON.object(values.sorted { $0.key < $1.key }.map { .init($0.key.rawValue, $0.value) })
        return """
            \(states.map { "\($0) is \($1)" }.joined(separator: ", ")); next is \(next?.rawValue ?? "the review"); \
            missing \(missing.map(\.rawValue)); \(progress.done) of \(progress.total)\(isReady ? ", ready" : ""); \
            holds \(String(decoding: values.bytes, as: UTF8.self)); proved \(proved.map(\.rawValue))
            """
    }
}

extension RandomAnswer.Meaning {
    /// The JSON that is stored; nil if the answer is not stored. For a consent it has the answer and the version, and
    /// for a password it says only that it is set.
    fileprivate var stored: JSON? {
        switch self {
        case .nothing, .nonsense, .repetition, .digits: nil
        case .address(let text), .name(let text), .text(let text), .birth(let text, _), .option(let text):
            .string(text)
        case .number(let number): .integer(number)
        case .options(let chosen): .array(chosen.map { .string($0) })
        case .agreement(let isAccepted, let version):
            ["accepted": .bool(isAccepted), "version": .string("v\(version ?? 0)")]
        case .password: "set"
        }
    }
}

// MARK: - Acts

extension SignupModel {
    /// Submits answers, and returns the expected outcome: `done` and the cleared fields, or the summary of the error.
    mutating func submit(_ answers: [(field: FieldName, answer: RandomAnswer)], to step: RandomFlow.Step) -> String {
        if isLocked(step) { return "locked, next is \(next!.name)" }
        let given = answers.filter { $0.answer.answer != nil }
        func meaning(_ field: FieldName) -> RandomAnswer.Meaning {
            given.first { $0.field == field }?.answer.meaning ?? .nothing
        }
        var after = held
        var refusals: [String] = []
        for (field, _) in given where !step.fields.contains(where: { $0.name == field }) {
            refusals.append("\(field) unknown_field")
        }
        for field in step.fields {
            if case .nonsense = meaning(field.name) { continue }
            after[field.name] = field.kept(meaning(field.name))
        }
        for field in step.fields {
            if let fault = field.fault(of: meaning(field.name)) {
                refusals.append("\(field.name) \(fault.rawValue)")
            }
            switch (field.rule, meaning(field.name)) {
            case (.password, .password(let password)) where words(in: after).contains(password):
                refusals.append("\(field.name) contains_identifier")
            case (.confirmation(let original), .repetition(let password)) where meaning(original) != .password(password):
                refusals.append("\(field.name) mismatch")
            default: break
            }
        }
        // The request contains no answers, or only blank answers to fields of this step, as a form with empty inputs
        // does.
        let isSkipped =
            step.isOptional
            && given.allSatisfy { answer in
                step.fields.contains { $0.name == answer.field } && answer.answer.meaning == .nothing
            }
        if !refusals.isEmpty, !isSkipped { return "refused: " + refusals.joined(separator: ", ") }

        var proved: [FieldName] = []
        for field in step.fields {
            guard case .code(_, let attempts) = field.rule, case .digits(let digits) = meaning(field.name) else {
                continue
            }
            if isProved(field.name) {
                // The accepted code may be sent again. Another code is refused, but does not use an attempt.
                if digits != codes[field.name]?.digits { return "refused: \(field.name) code_wrong" }
                continue
            }
            if let refusal = spend(digits, on: field.name, attempts) { return "refused: \(field.name) \(refusal)" }
            proved.append(field.name)
        }
        for field in step.fields where field.rule == .username(isIdentifier: true) {
            if after[field.name] == .name(RandomPerson.takenName) { return "refused: \(field.name) taken" }
        }
        for field in step.fields {
            guard case .address(let address)? = after[field.name], let code = flow.code(proving: field.name),
                wantsMail(to: address, code, isSame: after[field.name] == held[field.name]), isTooSoon(address)
            else { continue }
            return "too many: resend"
        }

        for field in proved { codes[field]!.isProved = true }
        var cleared: [FieldName] = []
        for field in step.fields {
            guard case .address(let address)? = after[field.name], let code = flow.code(proving: field.name) else {
                continue
            }
            let isSame = after[field.name] == held[field.name]
            if !isSame, isProved(code) { cleared.append(code) }
            if wantsMail(to: address, code, isSame: isSame) { send(code, to: address) }
        }
        let new = words(in: after, of: step.fields.filter { after[$0.name] != held[$0.name] })
        held = after
        for field in flow.fields {
            guard case .password(let password)? = held[field.name], new.contains(password) else { continue }
            held[field.name] = nil
            cleared.append(field.name)
        }
        answered.insert(step.name)
        return Self.done(cleared)
    }

    static func done(_ cleared: [FieldName]) -> String {
        cleared.isEmpty ? "done" : "done, cleared " + cleared.sorted().map(\.rawValue).joined(separator: " and ")
    }

    mutating func clear(_ step: RandomFlow.Step) -> String {
        if isLocked(step) { return "locked, next is \(next!.name)" }
        var cleared: [FieldName] = []
        for field in step.fields {
            if let code = flow.code(proving: field.name) {
                if isProved(code) { cleared.append(code) }
                withdraw(code)
            }
            withdraw(field.name)
            held[field.name] = nil
        }
        answered.remove(step.name)
        return Self.done(cleared)
    }

    mutating func resend(_ step: RandomFlow.Step) -> String {
        if isLocked(step) { return "locked, next is \(next!.name)" }
        for field in step.fields {
            guard case .code(let proves, _) = field.rule, case .address(let address)? = held[proves] else { continue }
            if isProved(field.name) { return "refused: \(field.name) not_allowed" }
            if isTooSoon(address) { return "too many: resend" }
            send(field.name, to: address)
            return "done"
        }
        return "no code"
    }

    mutating func letPass(seconds: Int) {
        for code in codes.keys { codes[code]!.age += seconds }
        for address in mailAges.keys { mailAges[address]! += seconds }
    }

    mutating func read(_ digits: String, from code: FieldName) {
        codes[code]!.digits = digits
    }

    /// The words that a password must not equal.
    private func words(
        in values: [FieldName: RandomAnswer.Meaning],
        of fields: [RandomFlow.Field]? = nil
    ) -> [String] {
        (fields ?? flow.fields).flatMap { field -> [String] in
            switch values[field.name] {
            case .address(let address): [address, String(address.prefix { $0 != "@" })]
            case .name(let name): [name]
            default: []
            }
        }
    }

    /// True if submitting the address sends a code: the field has no code for it, or that code is at least 60 seconds
    /// old. If the stored address is the same, that code must also be unusable, and the address unproved.
    private func wantsMail(to address: String, _ code: FieldName, isSame: Bool) -> Bool {
        guard let sent = codes[code], sent.address == address else { return true }
        if isSame, sent.isProved || isUsable(sent, code) { return false }
        return sent.age >= 60
    }

    /// True within a minute after the last mail to the address.
    private func isTooSoon(_ address: String) -> Bool { mailAges[address, default: 60] < 60 }

    private func isUsable(_ sent: SentCode, _ code: FieldName) -> Bool {
        guard case .code(_, let attempts)? = flow.field(named: code)?.rule else { return false }
        return !sent.isWithdrawn && sent.age < 600 && sent.attempts < attempts
    }

    private mutating func send(_ code: FieldName, to address: String) {
        codes[code] = SentCode(address: address)
        mails[address, default: 0] += 1
        mailAges[address] = 0
    }

    private mutating func withdraw(_ code: FieldName) {
        codes[code]?.isProved = false
        codes[code]?.isWithdrawn = true
    }

    /// Why the code is refused; nil if it is right. Uses an attempt if the last code is still usable.
    private mutating func spend(_ digits: String, on field: FieldName, _ attempts: Int) -> String? {
        guard let sent = currentCode(field) else { return "code_expired" }
        if sent.attempts >= attempts { return "code_exhausted" }
        if sent.isWithdrawn || sent.age >= 600 { return "code_expired" }
        codes[field]!.attempts += 1
        return digits == sent.digits ? nil : "code_wrong (\(attempts - sent.attempts - 1) left)"
    }
}
