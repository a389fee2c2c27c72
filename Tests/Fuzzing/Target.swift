@testable import Accounts

/// What reads bytes from outside, and what must hold whatever they are.
enum Target: String, CaseIterable {
    case json, form, multipart, image, email, phone, date, username, text, flow

    /// Ends the process where a promise is broken. False for an input that can never get this far, so that none is made
    /// of it.
    func run(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .json: readJSON(bytes)
        case .form: readForm(bytes)
        case .multipart: readMultipart(bytes)
        case .image: readImage(Array(bytes))
        case .flow: return withText(bytes, readFlow)
        case .email: return withText(bytes, AskedFields.email.judge)
        case .phone: return withText(bytes, AskedFields.phone.judge)
        case .date: return withText(bytes, AskedFields.date.judge)
        case .username: return withText(bytes, AskedFields.username.judge)
        case .text: return withText(bytes, AskedFields.text.judge)
        }
        return true
    }

    private func withText(_ bytes: UnsafeRawBufferPointer, _ read: (String) -> Void) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        read(text)
        return true
    }

    // MARK: Bodies

    /// What was accepted reads the same once written, and a secret is the string that it would have been.
    private func readJSON(_ bytes: UnsafeRawBufferPointer) {
        do throws(MalformedBody) {
            let value = try JSON.read(bytes)
            promise(value.isWritable, "what was read can be written and read again")
            let secretly = try Answers.readJSON(bytes, secretMembers: ["p"])
            promise(secretly?["p"].map(\.revealed) == value["p"], "a secret is read as a string would be")
        } catch {
            promise((0...bytes.count).contains(error.offset), "a fault lies within the bytes")
            promise(
                (try? Answers.readJSON(bytes, secretMembers: ["p"])) == nil,
                "a secret is read as strictly as a string"
            )
        }
    }

    private func readForm(_ bytes: UnsafeRawBufferPointer) {
        do throws(MalformedBody) {
            let form = try Answers.readForm(bytes, several: ["s"])
            let members = form.members.map { JSON.Member($0.name.rawValue, $0.answer.revealed) }
            promise(JSON.object(members).isWritable, "what was read can be written and read again")
            let secretly = try Answers.readForm(bytes, secretMembers: ["p"], several: ["s"])
            promise(secretly["p"].map(\.revealed) == form["p"].map(\.revealed), "a secret is read as a string would be")
        } catch {
            promise((0...bytes.count).contains(error.offset), "a fault lies within the bytes")
        }
    }

    private func readMultipart(_ bytes: UnsafeRawBufferPointer) {
        do throws(MalformedBody) {
            _ = try Answers.readMultipart(bytes, boundary: "B", several: ["s"])
            _ = try Answers.readMultipart(bytes, boundary: "B", secretMembers: ["p"], several: ["s"])
        } catch {
            promise((0...bytes.count).contains(error.offset), "a fault lies within the bytes")
        }
    }

    // MARK: Images

    /// Whatever a photo can be made of, the photo is an image of one size, and small.
    private func readImage(_ bytes: [UInt8]) {
        // A process of its own has more time.
        guard let file = try? ImageFile(bytes), file.width * file.height <= 1_000_000, let photo = try? Photo(of: bytes)
        else { return }
        promise(photo.jpeg.count <= Photo.maximumBytes, "a photo is small")
        let again = try? ImageFile(photo.jpeg)
        promise(again?.width == Photo.side && again?.height == Photo.side, "a photo is an image")
    }

    // MARK: Flow files

    /// A file is refused with a place that the operator can find, or any draft can be judged by it.
    private func readFlow(_ yaml: String) {
        do throws(FlowFileError) {
            let flow = try Flow(yaml: yaml, file: "flow.yaml")
            _ = SignupProgress(of: ValidationContext(in: flow))
            for language in flow.languages {
                for field in flow.fields {
                    promise(JSON.object(field.kind.rules(in: language)).isWritable, "rules can be shown")
                }
            }
        } catch {
            let lines = 1 + yaml.count(where: \.isNewline)
            promise(error.line.map { (1...lines).contains($0) } ?? true, "a fault lies in a line of the file: \(error)")
        }
    }
}

/// Fields of one kind under several rules.
struct AskedFields {
    private let fields: [AskedField]

    static let email = AskedFields("kind: email")
    static let phone = AskedFields("kind: phone, region: KR", "kind: phone, region: US", "kind: phone, region: IT")
    static let date = AskedFields("kind: date, min_age: 14", "kind: date, future: true, zone: Pacific/Kiritimati")
    static let username = AskedFields("kind: username")
    static let text = AskedFields(
        "kind: text, min: 2, max: 50",
        "kind: text, lines: many",
        "kind: text, pattern: '[[:alpha:]]+(-\\pL+)*'"
    )

    init(_ rules: String...) {
        do {
            fields = try rules.map { try AskedField(["name: field, \($0)"]) }
        } catch {
            fatalError("\(error)")
        }
    }

    /// The canonical form of an answer is its own canonical form, holds, and can be sealed.
    func judge(_ answer: String) {
        for field in fields {
            guard let canonical = try? field.canonical(.string(answer)) else { continue }
            promise(canonical.string?.utf8.contains(0) == false, "no value contains NUL")
            promise(canonical.isWritable, "a value can be sealed and opened")
            promise((try? field.isSettled(on: canonical)) == true, "a canonical form is its own, and holds")
        }
    }
}

extension JSON {
    fileprivate var isWritable: Bool { (try? JSON.read(bytes)) == self }
}

extension FieldAnswer {
    /// A string in place of a secret.
    fileprivate var revealed: JSON {
        switch self {
        case .json(let json): json
        case .secret(let shared): .string(shared.secret.withBytes { String(decoding: $0, as: UTF8.self) })
        case .file: .null
        }
    }
}

/// Ends the process where the sentence is not true. A `precondition` would say nothing in an optimised build.
private func promise(_ isKept: Bool, _ sentence: String) {
    if !isKept { fatalError("broken promise: \(sentence)") }
}
