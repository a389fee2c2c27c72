@testable import Accounts

/// A random flow. `yaml` is the text of its flow file, which the library reads.
struct RandomFlow {
    struct Step: Equatable {
        let name: StepName
        var isOptional: Bool
        var fields: [Field]
    }

    struct Field: Equatable {
        let name: FieldName
        var isRequired: Bool
        var rule: Rule
    }

    enum Rule: Equatable {
        case email(isIdentifier: Bool)
        case code(proves: FieldName, attempts: Int)
        case username(isIdentifier: Bool)
        case text(min: Int, max: Int, isMultiline: Bool)
        case number(min: Int, max: Int)
        case date(minAge: Int, maxAge: Int)
        case choice([String], isMultiple: Bool)
        case consent(version: Int)
        case password
        case confirmation(of: FieldName)
    }

    private(set) var steps: [Step] = []
    private var version = 1
    /// Groups of removed steps, which a later edit may insert again. A group is a step, and the steps with the codes
    /// for its addresses.
    private var removedSteps: [[Step]] = []
    private var removedFields: [Field] = []
    private var names = 0
    private var hasName = false

    var fields: [Field] { steps.flatMap(\.fields) }

    func field(named name: FieldName) -> Field? {
        fields.first { $0.name == name }
    }

    func step(of field: FieldName) -> Step? {
        steps.first { step in step.fields.contains { $0.name == field } }
    }

    /// The name of the code field that proves the address in this field; nil if there is none.
    func code(proving address: FieldName) -> FieldName? {
        for field in fields {
            if case .code(let proves, _) = field.rule, proves == address { return field.name }
        }
        return nil
    }
}

// MARK: - Flow file

extension RandomFlow {
    var yaml: String {
        var yaml = "flow: random\nversion: \(version)\nsteps:\n"
        for step in steps {
            yaml += "  - name: \(step.name)\n    optional: \(step.isOptional)\n    title: {en: Step}\n    fields:\n"
            for field in step.fields {
                yaml +=
                    "      - {name: \(field.name), required: \(field.isRequired), \(field.rule.yaml), label: {en: F}}\n"
            }
        }
        return yaml
    }
}

extension RandomFlow.Rule {
    fileprivate var yaml: String {
        switch self {
        case .email(let isIdentifier): "kind: email, identifier: \(isIdentifier)"
        case .code(let address, let attempts): "kind: code, proves: \(address), attempts: \(attempts)"
        case .username(let isIdentifier): "kind: username, identifier: \(isIdentifier)"
        case .text(let min, let max, let isMultiline):
            "kind: text, min: \(min), max: \(max), lines: \(isMultiline ? "many" : "one")"
        case .number(let min, let max): "kind: number, min: \(min), max: \(max)"
        case .date(let min, let max): "kind: date, min_age: \(min), max_age: \(max)"
        case .choice(let options, let isMultiple):
            "kind: choice, choose: \(isMultiple ? "several" : "one"), options: ["
                + options.map { "{value: \($0), label: {en: O}}" }.joined(separator: ", ") + "]"
        case .consent(let version): "kind: consent, version: v\(version), document: {en: Text \(version)}"
        case .password: "kind: password"
        case .confirmation(let password): "kind: confirmation, confirms: \(password)"
        }
    }
}

// MARK: - Random creation

extension RandomFlow {
    init(using chance: inout SeededChance) {
        repeat {
            self.init()
            for _ in 0..<Int.random(in: 1...6, using: &chance) { steps.append(newStep(using: &chance)) }
            if steps.count >= 2, chance.happens(in: 60) { askForProof(of: "email", using: &chance) }
            if chance.happens(in: 7) { askForPassword(using: &chance) }
        } while !isLegal
    }

    /// Puts an e-mail field into one step, and its code field into a later step.
    private mutating func askForProof(of address: FieldName, using chance: inout SeededChance) {
        let second = Int.random(in: 1..<steps.count, using: &chance)
        let first = Int.random(in: 0..<second, using: &chance)
        steps[first].isOptional = false
        let email = Field(name: address, isRequired: true, rule: .email(isIdentifier: chance.happens(in: 70)))
        steps[first].fields[Int.random(in: steps[first].fields.indices, using: &chance)] = email
        steps[second].isOptional = false
        if chance.happens(in: 70) { steps[second].fields = [] }
        let place = Int.random(in: 0...steps[second].fields.count, using: &chance)
        steps[second].fields.insert(newCode(for: address, using: &chance), at: place)
    }

    private func newCode(for address: FieldName, using chance: inout SeededChance) -> Field {
        let rule = Rule.code(proves: address, attempts: Int.random(in: 1...3, using: &chance))
        return Field(name: FieldName("\(address)-code"), isRequired: true, rule: rule)
    }

    /// Adds a password and its confirmation. Adds a username too if there is none, because the password must not equal
    /// the username.
    private mutating func askForPassword(using chance: inout SeededChance) {
        if !hasName { steps[steps.count - 1].fields.append(newName(using: &chance)) }
        let step = chance.happens(in: 60) ? 0 : Int.random(in: steps.indices, using: &chance)
        let fields = [
            Field(name: "password", isRequired: true, rule: .password),
            Field(name: "confirmation", isRequired: true, rule: .confirmation(of: "password")),
        ]
        steps[step].fields.insert(contentsOf: fields, at: chance.happens(in: 30) ? 0 : steps[step].fields.count)
    }

    private mutating func newName(using chance: inout SeededChance) -> Field {
        hasName = true
        let rule = Rule.username(isIdentifier: true).redrawn(using: &chance)
        return Field(name: "username", isRequired: chance.happens(in: 60), rule: rule)
    }

    private mutating func newStep(using chance: inout SeededChance) -> Step {
        names += 1
        let name = StepName("step-\(names)")
        let fields = (0..<Int.random(in: 1...4, using: &chance)).map { _ in newField(using: &chance) }
        return Step(name: name, isOptional: chance.happens(in: 25), fields: fields)
    }

    private mutating func newField(using chance: inout SeededChance) -> Field {
        names += 1
        if !hasName, chance.happens(in: 12) { return newName(using: &chance) }
        let rule: Rule =
            switch Int.random(in: 0..<7, using: &chance) {
            case 0, 1: .text(min: 0, max: 1, isMultiline: false)
            case 2: .number(min: 0, max: 0)
            case 3: .date(minAge: 0, maxAge: 0)
            case 4: .choice([], isMultiple: false)
            case 5: .consent(version: 0)
            default: .email(isIdentifier: false)
            }
        return Field(
            name: FieldName("field-\(names)"),
            isRequired: chance.happens(in: 60),
            rule: rule.redrawn(using: &chance)
        )
    }
}

extension RandomFlow.Rule {
    /// A rule of the same kind with other random settings. A consent gets the next version; e-mail, code,
    /// password and confirmation rules stay the same.
    func redrawn(using chance: inout SeededChance) -> Self {
        switch self {
        case .username: return .username(isIdentifier: chance.happens(in: 70))
        case .text:
            let min = Int.random(in: 0...4, using: &chance)
            let max = Int.random(in: Swift.max(min, 1)...8, using: &chance)
            return .text(min: min, max: max, isMultiline: chance.happens(in: 50))
        case .number:
            let min = Int.random(in: -20...20, using: &chance)
            return .number(min: min, max: Int.random(in: min...20, using: &chance))
        case .date:
            let min = Int.random(in: 0...60, using: &chance)
            return .date(minAge: min, maxAge: Int.random(in: min...150, using: &chance))
        case .choice:
            let options = ["a", "b", "c", "d"].filter { _ in chance.happens(in: 70) }
            return .choice((options + ["e"]).shuffled(using: &chance), isMultiple: chance.happens(in: 50))
        case .consent(let version): return .consent(version: version + 1)
        case .email, .code, .password, .confirmation: return self
        }
    }
}

extension RandomFlow.Step {
    fileprivate var asksForCode: Bool { fields.contains { $0.rule.isCode } }
}

extension RandomFlow.Rule {
    fileprivate var isCode: Bool { if case .code = self { true } else { false } }
    /// True for e-mail addresses and usernames, which a password must not equal.
    fileprivate var isName: Bool {
        switch self {
        case .email, .username: true
        default: false
        }
    }
    fileprivate var isPassword: Bool {
        switch self {
        case .password, .confirmation: true
        default: false
        }
    }
}

// MARK: - Random edits

extension RandomFlow {
    /// The flow after one random edit that changes its steps and leaves the flow valid.
    func edited(using chance: inout SeededChance) -> RandomFlow {
        while true {
            var flow = self
            flow.edit(using: &chance)
            guard flow.steps != steps, flow.isLegal else { continue }
            flow.version += 1
            return flow
        }
    }

    private mutating func edit(using chance: inout SeededChance) {
        let step = Int.random(in: steps.indices, using: &chance)
        let field = Int.random(in: steps[step].fields.indices, using: &chance)
        let isSimple = !steps[step].fields[field].rule.isCode && !steps[step].fields[field].rule.isPassword
        switch Int.random(in: 0..<13, using: &chance) {
        case 0: steps[step].fields.insert(newField(using: &chance), at: field)
        case 1: steps.insert(newStep(using: &chance), at: step)
        case 2 where isSimple && code(proving: steps[step].fields[field].name) == nil:
            removedFields.append(steps[step].fields.remove(at: field))
        case 3 where !steps[step].asksForCode:
            let codes = steps[step].fields.compactMap { code(proving: $0.name) }
            let group = steps.filter { $0 == steps[step] || $0.fields.contains { codes.contains($0.name) } }
            removedSteps.append(group)
            steps.removeAll(where: group.contains)
        case 4 where !removedFields.isEmpty:
            let back = removedFields.remove(at: Int.random(in: removedFields.indices, using: &chance))
            steps[step].fields.insert(back, at: field)
        case 5 where !removedSteps.isEmpty:
            var place = 0
            for back in removedSteps.remove(at: Int.random(in: removedSteps.indices, using: &chance)) {
                place = Int.random(in: place...steps.count, using: &chance)
                steps.insert(back, at: place)
                place += 1
            }
        case 6:
            let moved = steps.remove(at: step)
            steps.insert(moved, at: Int.random(in: 0...steps.count, using: &chance))
        case 7 where isSimple:
            let moved = steps[step].fields.remove(at: field)
            let other = Int.random(in: steps.indices, using: &chance)
            steps[other].fields.insert(moved, at: Int.random(in: 0...steps[other].fields.count, using: &chance))
        case 8 where isSimple: steps[step].fields[field].isRequired.toggle()
        case 9: steps[step].isOptional.toggle()
        case 10:
            let address = steps[step].fields[field]
            guard case .email = address.rule, code(proving: address.name) == nil else { return }
            names += 1
            let fields = [newCode(for: address.name, using: &chance)]
            let place = Int.random(in: (step + 1)...steps.count, using: &chance)
            steps.insert(Step(name: StepName("step-\(names)"), isOptional: false, fields: fields), at: place)
        default: steps[step].fields[field].rule = steps[step].fields[field].rule.redrawn(using: &chance)
        }
    }

    /// True if the library accepts the steps in this order, and there are 1 to 7 steps with 1 to 6 fields each.
    private var isLegal: Bool {
        guard (1...7).contains(steps.count), steps.allSatisfy({ (1...6).contains($0.fields.count) }) else {
            return false
        }
        for (index, step) in steps.enumerated() {
            for case .code(let address, _) in step.fields.map(\.rule) {
                guard !step.isOptional,
                    let earlier = steps[..<index].first(where: { $0.fields.contains { $0.name == address } }),
                    !earlier.isOptional, field(named: address)!.isRequired
                else { return false }
            }
            let passwords = step.fields.indices.filter { step.fields[$0].rule.isPassword }
            if passwords.count == 2, passwords[1] != passwords[0] + 1 { return false }
        }
        return true
    }
}

// MARK: - Chance

extension SeededChance {
    /// True with this probability in percent.
    mutating func happens(in percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }
}
