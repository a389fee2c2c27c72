import Foundation
import Testing

@testable import Accounts

/// A flow of required steps, a step without required fields, and an optional step. Texts have at most three characters.
private let steps = """
    flow: test
    version: 1
    steps:
      - name: email
        title: {en: E-mail}
        fields: [{name: email, kind: email, identifier: true, label: {en: E-mail}}]
      - name: code
        title: {en: Code}
        fields: [{name: code, kind: code, proves: email, label: {en: Code}}]
      - name: about
        title: {en: About}
        fields:
          - {name: nick, kind: text, max: 3, required: false, label: {en: Nick}}
          - {name: motto, kind: text, max: 3, required: false, label: {en: Motto}}
      - name: extra
        optional: true
        title: {en: Extra}
        fields:
          - {name: city, kind: text, max: 3, label: {en: City}}
          - {name: street, kind: text, max: 3, label: {en: Street}}
          - {name: floor, kind: text, max: 3, required: false, label: {en: Floor}}
      - name: name
        title: {en: Name}
        fields:
          - {name: name, kind: text, max: 3, label: {en: Name}}
          - {name: title, kind: text, max: 3, required: false, label: {en: Title}}
    """

@Suite("Progress of a sign-up")
struct SignupProgressTests {
    /// The values of a draft, and the expected progress: the states of the steps, the next step, the missing fields,
    /// the number of completed steps, and whether the draft can be committed.
    struct Example: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var values: [FieldName: JSON] = [:]
        var answered: Set<StepName> = []
        var proof: Proof?
        let states: [StepState]
        let next: StepName?
        let missing: [FieldName]
        let done: Int
        var isReady = false

        init(
            _ description: String,
            _ values: [FieldName: JSON] = [:],
            answered: Set<StepName> = [],
            proof: Proof? = nil,
            are states: [StepState],
            next: StepName?,
            missing: [FieldName],
            done: Int,
            isReady: Bool = false
        ) {
            testDescription = description
            (self.values, self.answered, self.proof) = (values, answered, proof)
            (self.states, self.next, self.missing, self.done, self.isReady) = (states, next, missing, done, isReady)
        }
    }

    private static let email: [FieldName: JSON] = ["email": "a@b.example"]
    private static let named: [FieldName: JSON] = ["email": "a@b.example", "name": "Ann"]

    private static func with(_ others: [FieldName: JSON]) -> [FieldName: JSON] {
        named.merging(others) { $1 }
    }

    static let examples = [
        Example(
            "the draft is empty",
            are: [.current, .locked, .locked, .locked, .locked],
            next: "email",
            missing: ["email", "code", "name"],
            done: 0
        ),
        Example(
            "the address waits for its code",
            email,
            answered: ["email"],
            proof: .pending,
            are: [.complete, .current, .locked, .locked, .locked],
            next: "code",
            missing: ["code", "name"],
            done: 1
        ),
        Example(
            "the stored address is invalid",
            ["email": "a@b"],
            answered: ["email"],
            proof: .proved(),
            are: [.invalid, .locked, .locked, .locked, .locked],
            next: "email",
            missing: ["email", "name"],
            done: 1
        ),
        Example(
            "the address is proved",
            email,
            answered: ["email", "code"],
            proof: .proved(),
            are: [.complete, .complete, .current, .locked, .locked],
            next: "about",
            missing: ["name"],
            done: 2
        ),
        Example(
            "the step without required fields is submitted empty",
            email,
            answered: ["email", "code", "about"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .optional, .open],
            next: "extra",
            missing: ["name"],
            done: 3
        ),
        Example(
            "the optional step is skipped",
            email,
            answered: ["email", "code", "about", "extra"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .complete, .current],
            next: "name",
            missing: ["name"],
            done: 3
        ),
        Example(
            "all but the optional step is answered",
            named,
            answered: ["email", "code", "about", "name"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .optional, .complete],
            next: "extra",
            missing: [],
            done: 4,
            isReady: true
        ),
        Example(
            "everything is answered",
            with(["city": "Ulm", "street": "A", "nick": "A"]),
            answered: ["email", "code", "about", "extra", "name"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .complete, .complete],
            next: nil,
            missing: [],
            done: 4,
            isReady: true
        ),
        Example(
            "the optional step is skipped and the rest answered",
            named,
            answered: ["email", "code", "about", "extra", "name"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .complete, .complete],
            next: nil,
            missing: [],
            done: 4,
            isReady: true
        ),
        Example(
            "the optional step lacks a required field",
            with(["city": "Ulm"]),
            answered: ["email", "code", "about", "extra", "name"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .optional, .complete],
            next: "extra",
            missing: [],
            done: 4,
            isReady: true
        ),
        Example(
            "the optional step has only an optional field",
            with(["floor": "1"]),
            answered: ["email", "code", "about", "extra", "name"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .optional, .complete],
            next: "extra",
            missing: [],
            done: 4,
            isReady: true
        ),
        Example(
            "the optional step has an invalid value",
            with(["city": "Ulm", "street": "Main Street"]),
            answered: ["email", "code", "about", "extra", "name"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .invalid, .complete],
            next: "extra",
            missing: [],
            done: 4
        ),
        Example(
            "an optional field has an invalid value",
            with(["title": "Queen"]),
            answered: ["email", "code", "about", "extra", "name"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .complete, .invalid],
            next: "name",
            missing: [],
            done: 3
        ),
        Example(
            "a required field has an invalid value",
            email.merging(["name": "Anna"]) { $1 },
            answered: ["email", "code", "about", "extra", "name"],
            proof: .proved(),
            are: [.complete, .complete, .complete, .complete, .invalid],
            next: "name",
            missing: ["name"],
            done: 3
        ),
        Example(
            "a step without required fields has an invalid value",
            with(["motto": "Onwards"]),
            answered: ["email", "code", "about", "extra", "name"],
            proof: .proved(),
            are: [.complete, .complete, .invalid, .locked, .locked],
            next: "about",
            missing: [],
            done: 3
        ),
        Example(
            "the proof is for another address",
            with(["city": "Ulm", "street": "A"]),
            answered: ["email", "code", "about", "extra", "name"],
            proof: .proved(forCurrentAddress: false),
            are: [.complete, .current, .locked, .locked, .locked],
            next: "code",
            missing: ["code"],
            done: 3
        ),
        Example(
            "the address was removed",
            ["name": "Ann"],
            answered: ["code", "about", "extra", "name"],
            proof: .proved(forCurrentAddress: false),
            are: [.current, .locked, .locked, .locked, .locked],
            next: "email",
            missing: ["email", "code"],
            done: 2
        ),
    ]

    @Test(arguments: examples)
    func `progress follows from the values and proofs of a draft`(example: Example) throws {
        var context = ValidationContext(in: try Flow(yaml: steps, file: "flow.yaml"))
        context = context.with(
            values: Values(example.values, answered: example.answered),
            proofs: example.proof.map { ["code": $0] } ?? [:]
        )
        let progress = SignupProgress(of: context)
        #expect(context.flow.steps.map { progress.states[$0.name] } == example.states)
        #expect(progress.next?.name == example.next)
        #expect(progress.missing == example.missing)
        #expect(progress.done == example.done && progress.total == 4)
        #expect(progress.isReady == example.isReady)
    }

    @Test func `changing the address makes the code step current again`() throws {
        var context = ValidationContext(in: try Flow(yaml: steps, file: "flow.yaml"))
        context = context.with(values: Values(Self.named, answered: ["about"]), proofs: ["code": .proved()])
        #expect(SignupProgress(of: context).isReady)
        context = context.with(proofs: ["code": .proved(forCurrentAddress: false)])
        context.put("c@d.example", in: "email")
        let progress = SignupProgress(of: context)
        #expect(progress.states["email"] == .complete && progress.states["code"] == .current)
        #expect(progress.next?.name == "code" && progress.missing == ["code"] && !progress.isReady)
    }

    @Test func `a step without required fields must be submitted once, and a step with required fields need not`()
        throws
    {
        let flow = try Flow.asking([["name: a, kind: text"], ["name: b, kind: text, required: false"]])
        let context = ValidationContext(in: flow).with(values: Values(["a": "x", "b": "y"]))
        #expect(SignupProgress(of: context).states == ["step-0": .complete, "step-1": .current])
        let seen = context.with(values: Values(["a": "x", "b": "y"], answered: ["step-1"]))
        #expect(SignupProgress(of: seen).states == ["step-0": .complete, "step-1": .complete])
    }
}

@Suite("A flow that changes during a sign-up")
struct ChangedFlowTests {
    private static let values = Values(["a": "Ann", "b": "Bea"], answered: ["step-0", "step-1"])

    private func progress(_ steps: [[String]]) throws -> SignupProgress {
        SignupProgress(of: ValidationContext(in: try Flow.asking(steps)).with(values: Self.values))
    }

    @Test func `a step with valid values stays complete`() throws {
        let progress = try progress([["name: a, kind: text, max: 3"], ["name: b, kind: text, min: 3"]])
        #expect(progress.isReady && progress.next == nil && progress.done == 2)
    }

    @Test func `a step with an invalid value is next, and later steps keep their values`() throws {
        let progress = try progress([["name: a, kind: text, max: 2"], ["name: b, kind: text"]])
        #expect(progress.states == ["step-0": .invalid, "step-1": .locked])
        #expect(progress.next?.name == "step-0" && progress.missing == ["a"] && progress.done == 1)
    }

    @Test func `a value of another kind is invalid`() throws {
        let progress = try progress([["name: a, kind: date"], ["name: b, kind: text"]])
        #expect(progress.states == ["step-0": .invalid, "step-1": .locked] && progress.missing == ["a"])
    }

    @Test func `a new required field is missing`() throws {
        let progress = try progress([["name: a, kind: text", "name: c, kind: text"], ["name: b, kind: text"]])
        #expect(progress.states == ["step-0": .current, "step-1": .locked] && progress.missing == ["c"])
    }

    @Test func `a new step is next`() throws {
        let progress = try progress([["name: a, kind: text"], ["name: b, kind: text"], ["name: c, kind: text"]])
        #expect(progress.states == ["step-0": .complete, "step-1": .complete, "step-2": .current])
        #expect(progress.next?.name == "step-2" && progress.done == 2 && progress.total == 3)
    }

    @Test func `removed steps and fields are ignored`() throws {
        let progress = try progress([["name: b, kind: text"]])
        #expect(progress.isReady && progress.done == 1 && progress.total == 1)
    }

    @Test func `a birth date becomes invalid when the person exceeds the maximum age`() throws {
        let flow = try Flow.asking([["name: born, kind: date, max_age: 20"]])
        var context = ValidationContext(in: flow).with(values: Values(["born": "2005-01-02"]))
        #expect(SignupProgress(of: context).isReady)
        context = context.with(now: .at("2026-01-02T00:00:00Z"))
        #expect(SignupProgress(of: context).states["step-0"] == .invalid)
    }
}

// MARK: - Comparison with a model

@Suite("SignupProgress compared with a model")
struct SignupProgressModelTests {
    @Test(arguments: UInt64(0)..<200)
    func `the progress of random flows and values equals that of the model`(seed: UInt64) throws {
        var chance = SeededChance(seed: seed)
        for _ in 0..<20 {
            let steps = RandomStep.some(using: &chance)
            let context = try RandomStep.validationContext(of: steps)
            let progress = SignupProgress(of: context)
            let model = Model(steps: steps)
            #expect(context.flow.steps.map { progress.states[$0.name] } == steps.indices.map(model.state), "\(steps)")
            #expect(progress.next?.name.rawValue == model.next.map { "step-\($0)" }, "\(steps)")
            #expect(progress.missing.map(\.rawValue) == model.missing, "\(steps)")
            #expect(progress.done == model.done && progress.total == model.total, "\(steps)")
            #expect(progress.isReady == model.isReady, "\(steps)")
        }
    }
}

private struct RandomField {
    let name: String
    let isRequired: Bool
    /// True for a valid value, false for an invalid one, nil for none.
    let holds: Bool?
}

private struct RandomStep {
    let isOptional: Bool
    let isAnswered: Bool
    let fields: [RandomField]

    static func some(using chance: inout SeededChance) -> [RandomStep] {
        (0..<Int.random(in: 1...6, using: &chance)).map { step in
            // Most values are valid: otherwise few drafts would get beyond their first step.
            let fields = (0..<Int.random(in: 1...3, using: &chance)).map { field in
                RandomField(
                    name: "field-\(step)-\(field)",
                    isRequired: Int.random(in: 0..<3, using: &chance) > 0,
                    holds: [nil, nil, false, true, true, true, true, true].randomElement(using: &chance)!
                )
            }
            return RandomStep(
                isOptional: Int.random(in: 0..<3, using: &chance) == 0,
                isAnswered: Int.random(in: 0..<4, using: &chance) > 0,
                fields: Bool.random(using: &chance)
                    ? fields
                    : fields.map { RandomField(name: $0.name, isRequired: $0.isRequired, holds: nil) }
            )
        }
    }

    static func validationContext(of steps: [RandomStep]) throws -> ValidationContext {
        var yaml = "flow: test\nversion: 1\nsteps:\n"
        var values = Values()
        for (index, step) in steps.enumerated() {
            yaml += "  - name: step-\(index)\n    optional: \(step.isOptional)\n    title: {en: Step}\n    fields:\n"
            for field in step.fields {
                yaml +=
                    "      - {name: \(field.name), kind: text, max: 3, required: \(field.isRequired), label: {en: F}}\n"
                values[FieldName(field.name)] = field.holds.map { $0 ? "abc" : "abcd" }
            }
            if step.isAnswered { values.answered.insert(StepName("step-\(index)")) }
        }
        return ValidationContext(in: try Flow(yaml: yaml, file: "flow.yaml")).with(values: values)
    }
}

/// A second implementation of the rules of steps. It must be simple, and need not be fast.
private struct Model {
    let steps: [RandomStep]

    /// True if a field of the step has an invalid value.
    func isInvalid(_ step: Int) -> Bool {
        steps[step].fields.contains { $0.holds == false }
    }

    /// True if no field has an invalid value, and every required field has a valid one. A step without required fields
    /// must have been submitted.
    func isFilled(_ step: Int) -> Bool {
        let required = steps[step].fields.filter(\.isRequired)
        if isInvalid(step) { return false }
        return required.isEmpty ? steps[step].isAnswered : required.allSatisfy { $0.holds == true }
    }

    /// True if the step is optional and was submitted without values.
    func isSkipped(_ step: Int) -> Bool {
        steps[step].isOptional && steps[step].isAnswered && steps[step].fields.allSatisfy { $0.holds == nil }
    }

    func isMet(_ step: Int) -> Bool { isFilled(step) || isSkipped(step) }

    /// True if an earlier step is incomplete and not optional.
    func isLocked(_ step: Int) -> Bool {
        (0..<step).contains { !steps[$0].isOptional && !isFilled($0) }
    }

    /// The first step that must still be filled or skipped; nil if there is none.
    var next: Int? { steps.indices.first { !isMet($0) } }

    func state(_ step: Int) -> StepState {
        if isLocked(step) { return .locked }
        if isInvalid(step) { return .invalid }
        if isMet(step) { return .complete }
        if steps[step].isOptional { return .optional }
        return next == step ? .current : .open
    }

    /// The names of the required fields without a valid value. Fields of optional steps are not required.
    var missing: [String] {
        steps.filter { !$0.isOptional }.flatMap(\.fields).filter { $0.isRequired && $0.holds != true }.map(\.name)
    }

    var done: Int { steps.indices.count { !steps[$0].isOptional && isFilled($0) } }
    var total: Int { steps.count { !$0.isOptional } }

    /// True if every step that is not optional is filled, and no value is invalid.
    var isReady: Bool { done == total && !steps.indices.contains(where: isInvalid) }
}
