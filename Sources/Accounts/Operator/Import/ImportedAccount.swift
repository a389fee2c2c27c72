internal import Crypto
internal import Foundation

/// An account of another system, as a line of an import file describes it:
///
///     {"email": "kim@example.com", "email_verified": true, "username": "kim", "profile": {"display_name": "Kim"},
///      "password_hash": "$2b$12$…", "created_at": "2024-05-01T12:00:00Z", "locale": "en"}
///
/// Only `created_at` and one of `email` and `username` are required.
struct ImportedAccount: Sendable {
    /// Derived from the time of creation, the address and the username, so that the same line never makes two accounts.
    let id: ID<Account>
    let email, username: String?
    /// Whether the other system has verified that the address belongs to the person.
    let isProved: Bool
    /// The values of the fields that are not identifiers.
    let profile: [JSON.Member]
    let passwordHash: ImportedHash?
    let createdAt: Date
    let language: Language

    /// The maximum length of a line in bytes.
    static let maximumLength = 64 * 1024

    /// Reads a line. Validates its values by the rules of the flow's fields, like the answers of a person.
    ///
    /// - Parameter now: the time of the database.
    init(_ line: [UInt8], in flow: Flow, at now: Date) throws(ImportRefusals) {
        guard line.count <= Self.maximumLength else { throw ImportRefusals(["the line is longer than 64 KiB"]) }
        let json: JSON
        do throws(MalformedBody) {
            json = try JSON.read(line)
        } catch {
            throw ImportRefusals(["the line cannot be read as JSON: \(error)"])
        }
        guard case .object(let members) = json else { throw ImportRefusals(["the line is not a JSON object"]) }
        var reader = Reader(members: members, flow: flow, now: now)
        email = reader.identifier(EmailField.name)
        username = reader.identifier(UsernameField.name)
        isProved = reader.flag("email_verified")
        profile = reader.profile()
        passwordHash = reader.passwordHash()
        language = reader.language()
        if !reader.has("email"), !reader.has("username") { reader.refuse("email", "required") }
        let createdAt = reader.createdAt()
        guard let createdAt = try reader.end(createdAt) else { throw ImportRefusals(["created_at: required"]) }
        self.createdAt = createdAt
        id = ID(at: createdAt, from: SHA256.hash(data: Data("import \(email ?? "") \(username ?? "")".utf8)))
    }

    /// The account as JSON, as the SQL function `import_accounts` takes it.
    ///
    /// - Parameter password: the password to store; nil if the account has none, or if it is only looked up.
    func entry(_ password: StoredPassword?) -> JSON {
        [
            "id": .string("\(id)"), "email": email.map(JSON.string) ?? .null, "is_proved": .bool(isProved),
            "username": username.map(JSON.string) ?? .null, "profile": .object(profile),
            "locale": .string(language.tag), "secret": password.map { .string($0.rawValue) } ?? .null,
            "created_at": .string(createdAt.timestamp),
        ]
    }
}

/// All reasons why a line is invalid. They contain names of members, but no values.
struct ImportRefusals: Error {
    let reasons: [String]

    init(_ reasons: [String]) {
        self.reasons = reasons
    }
}

/// Reads the members of a line, and collects the reasons why they are invalid.
private struct Reader {
    private let members: [JSON.Member]
    private let flow: Flow
    private let context: ValidationContext
    private var reasons: [String] = []

    init(members: [JSON.Member], flow: Flow, now: Date) {
        (self.members, self.flow) = (members, flow)
        context = ValidationContext(
            flow: flow,
            now: now,
            language: .english,
            serviceName: "",
            values: Values(),
            proofs: [:]
        )
        let known = [
            "email", "email_verified", "username", "profile", "password_hash", "created_at", "locale",
        ]
        for member in members where !known.contains(member.name) { refuse(member.name, "unknown_field") }
    }

    mutating func refuse(_ member: String, _ reason: String) {
        reasons.append("\(member): \(reason)")
    }

    /// Returns the value, or throws the collected reasons, if there are any.
    func end<Value>(_ value: Value) throws(ImportRefusals) -> Value {
        if !reasons.isEmpty { throw ImportRefusals(reasons) }
        return value
    }

    func has(_ name: String) -> Bool { member(name) != nil }

    /// The member; nil if it is null or missing.
    private func member(_ name: String) -> JSON? {
        let value = members.first { $0.name == name }?.value
        return value == .null ? nil : value
    }

    private mutating func text(_ name: String) -> String? {
        guard let value = member(name) else { return nil }
        if let text = value.string { return text }
        refuse(name, "wrong_type")
        return nil
    }

    mutating func flag(_ name: String) -> Bool {
        switch member(name) {
        case nil, .bool(false): return false
        case .bool(true): return true
        default:
            refuse(name, "wrong_type")
            return false
        }
    }

    /// The canonical form of the identifier of that kind; nil if the line has no such identifier, or if it is refused.
    mutating func identifier(_ kind: String) -> String? {
        guard let value = member(kind) else { return nil }
        guard let field = flow.fields.first(where: { $0.isIdentifier && type(of: $0.kind).name == kind }) else {
            refuse(kind, "the flow has no such identifier")
            return nil
        }
        return canonical(value, of: field, as: kind)?.string
    }

    mutating func profile() -> [JSON.Member] {
        guard let profile = member("profile") else { return [] }
        guard case .object(let members) = profile else {
            refuse("profile", "wrong_type")
            return []
        }
        return members.compactMap { member in
            let name = "profile.\(member.name)"
            guard let field = flow.field(named: FieldName(member.name)), !field.isIdentifier,
                field.kind.isInAccountRowIfEditable, field.kind.canBeEdited(field, among: flow.fields)
            else {
                refuse(name, "unknown_field")
                return nil
            }
            if member.value == .null { return nil }
            return canonical(member.value, of: field, as: name).map { JSON.Member(member.name, $0) }
        }
    }

    private mutating func canonical(_ value: JSON, of field: Field, as name: String) -> JSON? {
        do throws(Refusals) {
            return try field.kind.canonical(value, of: field.name, in: context)
        } catch {
            for refusal in error.all { refuse(name, refusal.code.rawValue) }
            return nil
        }
    }

    mutating func passwordHash() -> ImportedHash? {
        guard let text = text("password_hash") else { return nil }
        do throws(ImportedHashError) {
            return try ImportedHash(text)
        } catch {
            refuse("password_hash", "\(error)")
            return nil
        }
    }

    mutating func language() -> Language {
        guard let tag = text("locale") else { return flow.languages[0] }
        guard let language = flow.languages.language(for: tag) else {
            refuse("locale", "the flow has no such language")
            return flow.languages[0]
        }
        return language
    }

    mutating func createdAt() -> Date? {
        guard let text = text("created_at") else {
            if member("created_at") == nil { refuse("created_at", "required") }
            return nil
        }
        let formats = [
            Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
        ]
        guard let date = formats.lazy.compactMap({ try? $0.parse(text) }).first else {
            refuse("created_at", "bad_format")
            return nil
        }
        guard date.timeIntervalSince1970 >= 0, date <= context.now else {
            refuse("created_at", "impossible_date")
            return nil
        }
        return date
    }
}

extension FieldKind {
    /// Validates a value as an answer and returns its canonical form.
    fileprivate func canonical(
        _ json: JSON,
        of field: FieldName,
        in context: ValidationContext
    ) throws(Refusals) -> JSON {
        guard let value = value(of: try parse(.json(json), of: field, in: context)) else {
            throw Refusals(field, .wrongType)
        }
        return value.json
    }
}
