@testable import Accounts

/// The parsers of untrusted bytes, each with the properties that must hold for all inputs.
enum Target: String, CaseIterable {
    case json, form, multipart, image, email, phone, date, username, text, flow

    /// Runs the parser, and ends the process if a property does not hold. Returns false if the input cannot reach the
    /// parser, so that libFuzzer does not keep it.
    func run(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .json: readJSON(bytes)
        case .form: readForm(bytes)
        case .multipart: readMultipart(bytes)
        case .image: readImage(Array(bytes))
        case .flow: return withText(bytes, readFlow)
        case .email: return withText(bytes, AskedFields.email.validate)
        case .phone: return withText(bytes, AskedFields.phone.validate)
        case .date: return withText(bytes, AskedFields.date.validate)
        case .username: return withText(bytes, AskedFields.username.validate)
        case .text: return withText(bytes, AskedFields.text.validate)
        }
        return true
    }

    private func withText(_ bytes: UnsafeRawBufferPointer, _ read: (String) -> Void) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        read(text)
        return true
    }

    // MARK: Bodies

    /// Checks that a value is the same after it was written and read again, and that a member has the same text whether
    /// it is read as a secret or as a string.
    private func readJSON(_ bytes: UnsafeRawBufferPointer) {
        do throws(MalformedBody) {
            let value = try JSON.read(bytes)
            require(value.isWritable, "a value that was read can be written and read again")
            let withSecret = try Answers.readJSON(bytes, secretMembers: ["p"])
            require(withSecret?["p"].map(\.revealed) == value["p"], "a secret has the text of the same string")
        } catch {
            require((0...bytes.count).contains(error.offset), "the offset of an error lies within the bytes")
            require(
                (try? Answers.readJSON(bytes, secretMembers: ["p"])) == nil,
                "a body that is refused is also refused if a member is a secret"
            )
        }
    }

    private func readForm(_ bytes: UnsafeRawBufferPointer) {
        do throws(MalformedBody) {
            let form = try Answers.readForm(bytes, repeatableNames: ["s"])
            let members = form.members.map { JSON.Member($0.name.rawValue, $0.answer.revealed) }
            require(JSON.object(members).isWritable, "a value that was read can be written and read again")
            let withSecret = try Answers.readForm(bytes, secretNames: ["p"], repeatableNames: ["s"])
            require(
                withSecret["p"].map(\.revealed) == form["p"].map(\.revealed),
                "a secret has the text of the same string"
            )
        } catch {
            require((0...bytes.count).contains(error.offset), "the offset of an error lies within the bytes")
        }
    }

    private func readMultipart(_ bytes: UnsafeRawBufferPointer) {
        do throws(MalformedBody) {
            _ = try Answers.readMultipart(bytes, boundary: "B", repeatableNames: ["s"])
            _ = try Answers.readMultipart(bytes, boundary: "B", secretNames: ["p"], repeatableNames: ["s"])
        } catch {
            require((0...bytes.count).contains(error.offset), "the offset of an error lies within the bytes")
        }
    }

    // MARK: Images

    /// Checks that the photo of any image is an image of the standard dimensions, and has at most the maximum size.
    private func readImage(_ bytes: [UInt8]) {
        // Larger images would take too long here; the service decodes them in a separate process.
        guard let file = try? ImageFile(bytes), file.width * file.height <= 1_000_000, let photo = try? Photo(of: bytes)
        else { return }
        require(photo.jpeg.count <= Photo.maximumBytes, "a photo has at most the maximum size")
        let again = try? ImageFile(photo.jpeg)
        require(
            again?.width == Photo.side && again?.height == Photo.side,
            "a photo is an image of the standard dimensions"
        )
    }

    // MARK: Flow files

    /// Checks that the line in an error is a line of the file, and that an accepted flow can validate an empty draft
    /// and show its rules.
    private func readFlow(_ yaml: String) {
        do throws(YAMLFileError) {
            let flow = try Flow(yaml: yaml, file: "flow.yaml")
            _ = SignupProgress(of: ValidationContext(in: flow))
            for language in flow.languages {
                for field in flow.fields {
                    require(JSON.object(field.kind.rules(in: language)).isWritable, "rules can be shown")
                }
            }
        } catch {
            let lines = 1 + yaml.count(where: \.isNewline)
            require(
                error.line.map { (1...lines).contains($0) } ?? true,
                "the line of an error lies within the file: \(error)"
            )
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

    /// Checks that a canonical form has visible characters and no NUL, and can be written and read again. Parsing it
    /// must return it unchanged, and the field must be complete when it is stored.
    func validate(_ answer: String) {
        for field in fields {
            guard let canonical = try? field.canonical(.string(answer)) else { continue }
            require(canonical.string?.utf8.contains(0) == false, "no value contains NUL")
            require(
                canonical.string?.unicodeScalars.contains(where: \.isVisible) == true,
                "every value has a visible character"
            )
            require(canonical.isWritable, "a value can be written and read again")
            require(
                (try? field.isSettled(on: canonical)) == true,
                "parsing a canonical form returns it unchanged, and completes the field"
            )
        }
    }
}

extension JSON {
    fileprivate var isWritable: Bool { (try? JSON.read(bytes)) == self }
}

extension FieldAnswer {
    /// The answer as JSON: a string for a secret, and null for a file.
    fileprivate var revealed: JSON {
        switch self {
        case .json(let json): json
        case .secret(let shared): .string(shared.secret.withBytes { String(decoding: $0, as: UTF8.self) })
        case .file: .null
        }
    }
}

/// Ends the process if the condition is false. A `precondition` would print no message in an optimised build.
private func require(_ condition: Bool, _ message: String) {
    if !condition { fatalError("assertion failed: \(message)") }
}
