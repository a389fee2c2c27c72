internal import Crypto
internal import Foundation
internal import Yams

extension Flow {
    /// The flow that ships with the service.
    ///
    /// - Parameter known: the languages that the service has.
    package static func standard(among known: [Language] = Language.builtIn) throws(FlowFileError) -> Flow {
        let yaml = String(decoding: PackageResources.signup_yaml, as: UTF8.self)
        return try Flow(yaml: yaml, file: "signup.yaml", among: known)
    }

    package init(contentsOf path: String, among known: [Language] = Language.builtIn) throws(FlowFileError) {
        guard let yaml = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw FlowFileError(file: path, line: nil, reason: "cannot read the file as UTF-8 text")
        }
        try self.init(yaml: yaml, file: path, among: known)
    }

    /// - Parameters:
    ///   - file: the name of the file in errors.
    ///   - known: the languages that the service has.
    package init(yaml: String, file: String, among known: [Language] = Language.builtIn) throws(FlowFileError) {
        do throws(FlowFileError) {
            try self.init(reading: yaml, file: file, among: known)
            digest = Self.digest(of: yaml)
        } catch {
            throw error.within(yaml)
        }
    }

    private static func digest(of yaml: String) -> String {
        Data(SHA256.hash(data: Data("\(buildIdentity)\n\(yaml)".utf8)).prefix(12)).base64EncodedString()
    }

    private init(reading yaml: String, file: String, among known: [Language]) throws(FlowFileError) {
        var entry = try FlowEntry(yaml: yaml, file: file)
        try self.init(&entry, among: known)
        try entry.finish()
        gaps = entry.gaps.all.map { $0.within(yaml) }
    }

    private init(_ entry: inout FlowEntry, among known: [Language]) throws(FlowFileError) {
        name = try entry.text("flow")
        guard Self.isName(name) else { throw entry.error(Self.invalidName(name), at: "flow") }
        guard let version = try entry.integer("version", in: 1...1_000_000) else {
            throw entry.error("\"version\" is missing")
        }
        self.version = version
        knownLanguages = known
        languages = try Self.languages(&entry, among: known)
        entry = entry.requiring(languages, among: known)
        serviceName = try entry.optionalText("service")
        zone = try entry.zone("zone") ?? .gmt
        expiry = try DraftExpiry(in: &entry)
        steps = try Self.steps(&entry)
        signIn = try SignInRules(in: &entry, steps)
        limits = try Limits(of: &entry)
    }

    private static func languages(
        _ entry: inout FlowEntry,
        among known: [Language]
    ) throws(FlowFileError) -> [Language] {
        guard let node = entry.node("languages") else { return [known[Language.english.tag] ?? .english] }
        let languages = (node.sequence ?? []).compactMap { $0.scalar.flatMap { known[$0.string] } }
        guard !languages.isEmpty, languages.count == node.sequence?.count, Set(languages).count == languages.count
        else {
            let tags = known.map(\.tag).joined(separator: ", ")
            throw entry.error("\"languages\" must be a list of \(tags), each at most once", at: "languages")
        }
        return languages
    }

    private static func steps(_ entry: inout FlowEntry) throws(FlowFileError) -> [Step] {
        var steps: [Step] = []
        var earlier: [Field] = []
        var entries: [(FlowEntry, Field)] = []
        var editable: [(FlowEntry, Step)] = []
        for var stepEntry in try entry.entries("steps") {
            let name = try stepEntry.text("name")
            guard isName(name) else { throw stepEntry.error(invalidName(name), at: "name") }
            if reservedNames.contains(name) { throw stepEntry.error(reservedName(name), at: "name") }
            if steps.contains(where: { $0.name.rawValue == name }) {
                throw stepEntry.error("a step named \"\(name)\" already exists", at: "name")
            }
            let isOptional = try stepEntry.flag("optional", default: false)
            let titles = try stepEntry.texts("title")
            let shortTitles = try stepEntry.optionalTexts("short_title") ?? [:]
            var fields: [Field] = []
            for var fieldEntry in try stepEntry.entries("fields") {
                let field = try field(&fieldEntry, after: fields, ofEarlierSteps: earlier)
                fields.append(field)
                entries.append((fieldEntry, field))
            }
            earlier += fields
            let isEditable = try stepEntry.flag("editable", default: false)
            if isEditable, accountPaths.contains(name) {
                throw stepEntry.error("the service uses the path /account/\(name): rename the step", at: "name")
            }
            steps.append(
                Step(
                    name: StepName(name),
                    isOptional: isOptional,
                    isEditable: isEditable,
                    titles: titles,
                    shortTitles: shortTitles,
                    fields: fields
                )
            )
            if isOptional, let field = fields.first(where: { !$0.kind.canBeSkipped }) {
                let kind = type(of: field.kind).name
                throw stepEntry.error("a step with a field of kind \"\(kind)\" cannot be optional", at: "optional")
            }
            if isEditable { editable.append((stepEntry, steps[steps.count - 1])) }
            try stepEntry.finish()
        }
        for (entry, step) in editable where !step.fields.contains(where: { $0.kind.canBeEdited($0, among: earlier) }) {
            let proved = step.fields.first { field in
                !field.isIdentifier && earlier.contains { $0.kind.provedField == field.name }
            }
            let reason = proved.map { ": a code proves \"\($0.name)\", so the address stays as it is" } ?? ""
            throw entry.error("the step has no field that people can change\(reason)", at: "editable")
        }
        for (entry, field) in entries { try field.kind.check(entry, of: field, in: steps) }
        if let conflict = nameConflict(in: steps) { throw entry.error(conflict, at: "steps") }
        return steps
    }

    /// Returns the mistake if a field has the name under which an account stores another field as its identifier; nil
    /// if there is none. Accounts store identifiers under the names of their kinds.
    private static func nameConflict(in steps: [Step]) -> String? {
        let fields = steps.flatMap(\.fields)
        for name in Kinds.identifying {
            let identifier = fields.first { $0.isIdentifier && type(of: $0.kind).name == name }
            if let identifier, identifier.name.rawValue != name, fields.contains(where: { $0.name.rawValue == name }) {
                let reason = "the account stores its identifier \"\(identifier.name)\" under this name"
                return "rename the field \"\(name)\": \(reason)"
            }
        }
        return nil
    }

    private static func field(
        _ entry: inout FlowEntry,
        after earlierInStep: [Field],
        ofEarlierSteps earlierSteps: [Field]
    ) throws(FlowFileError) -> Field {
        let name = try entry.text("name")
        guard isName(name) else { throw entry.error(invalidName(name), at: "name") }
        if (earlierSteps + earlierInStep).contains(where: { $0.name.rawValue == name }) {
            throw entry.error("a field named \"\(name)\" already exists", at: "name")
        }
        let word = try entry.text("kind")
        guard let kindType = Kinds.all.first(where: { $0.name == word }) else {
            throw entry.error("unknown kind \"\(word)\"", at: "kind")
        }
        try entry.readRequired()
        let isIdentifier = try entry.flag("identifier", default: false)
        let labels = try entry.texts("label")
        let helps = try entry.optionalTexts("help") ?? [:]
        let shortLabels = try entry.optionalTexts("short_label") ?? [:]
        let kind = try kindType.init(rules: &entry)
        let position = FieldPosition(
            name: name,
            earlierInStep: earlierInStep,
            earlierSteps: earlierSteps
        )
        try kind.check(entry, at: position)
        if isIdentifier {
            guard kindType.canIdentify else {
                let kinds = Kinds.identifying.map { "\"\($0)\"" }.joined(separator: " or ")
                throw entry.error("only a field of kind \(kinds) can be an identifier", at: "identifier")
            }
            if let rival = position.earlier.first(where: { $0.isIdentifier && type(of: $0.kind) == kindType }) {
                throw entry.error("\"\(rival.name)\" is already the identifier of kind \"\(word)\"", at: "identifier")
            }
        }
        // The JSON of an account already has the members `id` and `created_at`, and a recovery has the field
        // `second_factor`.
        if ["id", "created_at", "second_factor"].contains(name) { throw entry.error(reservedName(name), at: "name") }
        if Kinds.identifying.contains(name), word != name {
            throw entry.error("only a field of kind \"\(name)\" can be named \"\(name)\"", at: "name")
        }
        var control = kind.control
        control.autocomplete = try entry.word("autocomplete", among: Control.autocompletes) ?? control.autocomplete
        try entry.finish()
        return Field(
            name: FieldName(name),
            kind: kind,
            isRequired: entry.isRequired,
            isIdentifier: isIdentifier,
            labels: labels,
            helps: helps,
            control: control,
            shortLabels: shortLabels
        )
    }

    private static func isName(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIIAlphanumeric && $0 | 0x20 == $0 || $0 == 0x5F || $0 == 0x2D }
    }

    private static func invalidName(_ name: String) -> String {
        "invalid name \"\(name)\": use 1 to 40 characters of a-z, 0-9, _ and -"
    }

    private static func reservedName(_ name: String) -> String {
        "the name \"\(name)\" is reserved: use another"
    }

    /// Path segments below `/account` that the service uses itself, so no editable step may have these names.
    private static let accountPaths: Set<String> = [
        "authenticator", "confirm", "email", "erase", "export", "password", "photos", "recovery-codes", "sessions",
        "sign-out",
        "totp",
    ]

    /// Path segments that the service uses itself, so no step may have these names.
    private static let reservedNames: Set<String> = [
        "review", "sign-in", "commit", "schema", "handoff", "resume", "ticket", "cancel",
    ]
}
