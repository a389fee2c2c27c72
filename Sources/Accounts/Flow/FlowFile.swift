internal import Crypto
internal import Foundation
internal import Yams

extension Flow {
    /// The flow that ships with the service. Its languages are the built-in ones, and those that `TEXTS_FILE` adds with
    /// translations of the texts of a flow (``LanguageTexts/questions``).
    ///
    /// - Parameter known: the languages that the service has.
    package static func standard(among known: [Language] = Language.builtIn) throws(YAMLFileError) -> Flow {
        try Flow(yaml: standardYAML(among: known), file: "signup.yaml", among: known)
    }

    /// The text of the file of the flow ``standard(among:)``.
    package static func standardYAML(among known: [Language] = Language.builtIn) -> String {
        let added = known.filter { !Language.builtIn.contains($0) && !$0.questions.isEmpty }
        let tags = (Language.builtIn + added).map(\.tag).joined(separator: ", ")
        return String(decoding: PackageResources.signup_yaml, as: UTF8.self)
            .replacing("\nlanguages: [en, ko]\n", with: "\nlanguages: [\(tags)]\n")
    }

    package init(contentsOf path: String, among known: [Language] = Language.builtIn) throws(YAMLFileError) {
        let bytes: [UInt8]
        do throws(FileContent.Unreadable) {
            bytes = try FileContent(of: path).bytes
        } catch {
            throw YAMLFileError(file: path, line: nil, reason: "cannot read the file: \(error.reason)")
        }
        try self.init(bytes, file: path, among: known)
    }

    /// - Parameter bytes: the content of the file.
    package init(
        _ bytes: [UInt8],
        file: String,
        among known: [Language] = Language.builtIn
    ) throws(YAMLFileError) {
        guard let yaml = String(validating: bytes, as: UTF8.self) else {
            throw YAMLFileError(file: file, line: nil, reason: "the file is not UTF-8 text")
        }
        try self.init(yaml: yaml, file: file, among: known)
    }

    /// - Parameters:
    ///   - file: the name of the file in errors.
    ///   - known: the languages that the service has.
    package init(yaml: String, file: String, among known: [Language] = Language.builtIn) throws(YAMLFileError) {
        do throws(YAMLFileError) {
            try self.init(reading: yaml, file: file, among: known)
            digest = Self.digest(of: yaml, translatedInto: languages)
        } catch {
            throw error.within(yaml)
        }
    }

    /// Includes the translations, because a consent is valid only for the text that the person has read, which may be a
    /// translation.
    private static func digest(of yaml: String, translatedInto languages: [Language]) -> String {
        let translations = languages.flatMap { language in
            language.questions.sorted { $0.key < $1.key }.map { "\(language.tag) \($0.key) \($0.value)" }
        }
        let text = ([buildIdentity, yaml] + translations).joined(separator: "\n")
        return Data(SHA256.hash(data: Data(text.utf8)).prefix(12)).base64EncodedString()
    }

    private init(reading yaml: String, file: String, among known: [Language]) throws(YAMLFileError) {
        var entry = try YAMLEntry(yaml: yaml, file: file)
        try self.init(&entry, among: known)
        gaps = entry.gaps.all.map { $0.within(yaml) }
    }

    /// Throws all mistakes together, but stops after a mistake in the languages. After any other mistake, omits some
    /// checks of how steps and fields fit together, because a step or a field may be missing.
    private init(_ entry: inout YAMLEntry, among known: [Language]) throws(YAMLFileError) {
        let mistakes = entry.mistakes
        let name = mistakes.collect { () throws(YAMLFileError) in
            let name = try entry.text("flow")
            guard Self.isName(name) else { throw entry.error(Self.invalidName(name), at: "flow") }
            return name
        }
        let version = mistakes.collect { () throws(YAMLFileError) in
            guard let version = try entry.integer("version", in: 1...1_000_000) else { throw entry.missing("version") }
            return version
        }
        let languages = mistakes.collect { () throws(YAMLFileError) in try Self.languages(&entry, among: known) }
        // Without the languages, it is not known which texts are missing.
        guard let languages else { throw YAMLFileError(mistakes.all)! }
        entry = entry.requiring(languages, among: known)
        let serviceName = mistakes.collect { () throws(YAMLFileError) in try entry.optionalText("service") }
        let zone = mistakes.collect { () throws(YAMLFileError) in try entry.zone("zone") ?? .gmt }
        let expiry = mistakes.collect { () throws(YAMLFileError) in try DraftExpiry(in: &entry) }
        let steps = mistakes.collect { () throws(YAMLFileError) in try Self.steps(&entry) } ?? nil
        let signIn = mistakes.collect { () throws(YAMLFileError) in try SignInRules(in: &entry, steps) }
        let limits = mistakes.collect { () throws(YAMLFileError) in try Limits(of: &entry) }
        mistakes.add(entry.unknownKeys)
        if let error = YAMLFileError(mistakes.all) { throw error }
        guard let name, let version, let serviceName, let zone, let expiry, let steps, let signIn, let limits else {
            preconditionFailure("a flow without mistakes lacks a part")
        }
        (self.name, self.version, knownLanguages, self.languages) = (name, version, known, languages)
        (self.serviceName, self.zone, self.expiry, self.steps) = (serviceName, zone, expiry, steps)
        (self.signIn, self.limits) = (signIn, limits)
    }

    private static func languages(
        _ entry: inout YAMLEntry,
        among known: [Language]
    ) throws(YAMLFileError) -> [Language] {
        guard let node = entry.node("languages") else { return [known[Language.english.tag] ?? .english] }
        let languages = (node.sequence ?? []).compactMap { $0.scalar.flatMap { known[$0.string] } }
        guard !languages.isEmpty, languages.count == node.sequence?.count, Set(languages).count == languages.count
        else {
            let tags = known.map(\.tag).joined(separator: ", ")
            throw entry.error("\"languages\" must be a list of \(tags), each at most once", at: "languages")
        }
        return languages
    }

    /// Collects the mistakes of single steps and fields, and returns nil if there are any. If there are none, throws if
    /// the steps do not fit together. Also throws if `steps` is not a list of mappings.
    private static func steps(_ entry: inout YAMLEntry) throws(YAMLFileError) -> [Step]? {
        let mistakes = entry.mistakes
        let earlierMistakes = mistakes.all.count
        var steps: [Step] = []
        var fieldEntries: [(YAMLEntry, Field)] = []
        var editable: [(YAMLEntry, Step)] = []
        for var stepEntry in try entry.entries("steps") {
            guard let step = step(&stepEntry, after: steps, &fieldEntries) else { continue }
            steps.append(step)
            if step.isEditable { editable.append((stepEntry, step)) }
        }
        if mistakes.all.count > earlierMistakes { return nil }
        let fields = steps.flatMap(\.fields)
        for (stepEntry, step) in editable where !step.fields.contains(where: { $0.kind.canBeEdited($0, among: fields) })
        {
            let proved = step.fields.first { field in
                !field.isIdentifier && fields.contains { $0.kind.provedField == field.name }
            }
            let reason = proved.map { ": a code proves \"\($0.name)\", so it cannot be changed" } ?? ""
            throw stepEntry.error("the step has no field that people can change\(reason)", at: "editable")
        }
        for (fieldEntry, field) in fieldEntries { try field.kind.check(fieldEntry, of: field, in: steps) }
        if let conflict = nameConflict(in: steps) { throw entry.error(conflict, at: "steps") }
        return steps
    }

    /// Collects the mistakes of the step. Returns nil if its name or its title has a mistake.
    ///
    /// - Parameter fieldEntries: the fields of earlier steps with their entries, to which those of this step are added.
    private static func step(
        _ entry: inout YAMLEntry,
        after earlier: [Step],
        _ fieldEntries: inout [(YAMLEntry, Field)]
    ) -> Step? {
        let mistakes = entry.mistakes
        let name = mistakes.collect { () throws(YAMLFileError) in
            let name = try entry.text("name")
            guard isName(name) else { throw entry.error(invalidName(name), at: "name") }
            if reservedNames.contains(name) { throw entry.error(reservedName(name), at: "name") }
            if earlier.contains(where: { $0.name.rawValue == name }) {
                throw entry.error("a step named \"\(name)\" already exists", at: "name")
            }
            return name
        }
        let isOptional = mistakes.collect { () throws(YAMLFileError) in try entry.flag("optional", default: false) }
        let titles = mistakes.collect { () throws(YAMLFileError) in try entry.texts("title") }
        let shortTitles = mistakes.collect { () throws(YAMLFileError) in try entry.optionalTexts("short_title") ?? [:] }
        var fields: [Field] = []
        for var fieldEntry in mistakes.collect({ () throws(YAMLFileError) in try entry.entries("fields") }) ?? [] {
            let field = field(&fieldEntry, after: fields, ofEarlierSteps: earlier.flatMap(\.fields))
            guard let field else { continue }
            fields.append(field)
            fieldEntries.append((fieldEntry, field))
        }
        let isEditable = mistakes.collect { () throws(YAMLFileError) in try entry.flag("editable", default: false) }
        if let name, isEditable == true, accountPaths.contains(name) {
            mistakes.add([entry.error("the service uses the path /account/\(name): rename the step", at: "name")])
        }
        if isOptional == true, let field = fields.first(where: { !$0.kind.canBeSkipped }) {
            let kind = type(of: field.kind).name
            mistakes.add([
                entry.error("a step with a field of kind \"\(kind)\" cannot be optional", at: "optional")
            ])
        }
        mistakes.add(entry.unknownKeys)
        guard let name, let titles else { return nil }
        return Step(
            name: StepName(name),
            isOptional: isOptional ?? false,
            isEditable: isEditable ?? false,
            titles: titles,
            shortTitles: shortTitles ?? [:],
            fields: fields
        )
    }

    /// Accounts store an identifier under the name of its kind. Returns a mistake if another field has this name, and
    /// otherwise nil.
    private static func nameConflict(in steps: [Step]) -> String? {
        let fields = steps.flatMap(\.fields)
        for name in KindList.identifying {
            let identifier = fields.first { $0.isIdentifier && type(of: $0.kind).name == name }
            if let identifier, identifier.name.rawValue != name, fields.contains(where: { $0.name.rawValue == name }) {
                let reason = "the account stores its identifier \"\(identifier.name)\" under this name"
                return "rename the field \"\(name)\": \(reason)"
            }
        }
        return nil
    }

    /// Collects the mistakes of the field. Returns nil if it has any.
    private static func field(
        _ entry: inout YAMLEntry,
        after earlierInStep: [Field],
        ofEarlierSteps earlierSteps: [Field]
    ) -> Field? {
        let mistakes = entry.mistakes
        let earlierMistakes = mistakes.all.count
        let name = mistakes.collect { () throws(YAMLFileError) in
            let name = try entry.text("name")
            guard isName(name) else { throw entry.error(invalidName(name), at: "name") }
            if (earlierSteps + earlierInStep).contains(where: { $0.name.rawValue == name }) {
                throw entry.error("a field named \"\(name)\" already exists", at: "name")
            }
            return name
        }
        let kindType = mistakes.collect { () throws(YAMLFileError) in
            let word = try entry.text("kind")
            guard let kindType = KindList.all.first(where: { $0.name == word }) else {
                throw entry.error("unknown kind \"\(word)\"", at: "kind")
            }
            return kindType
        }
        mistakes.collect { () throws(YAMLFileError) in try entry.readRequired() }
        let isIdentifier = mistakes.collect { () throws(YAMLFileError) in try entry.flag("identifier", default: false) }
        let labels = mistakes.collect { () throws(YAMLFileError) in try entry.texts("label") }
        let helps = mistakes.collect { () throws(YAMLFileError) in try entry.optionalTexts("help") ?? [:] }
        let shortLabels = mistakes.collect { () throws(YAMLFileError) in try entry.optionalTexts("short_label") ?? [:] }
        let autocomplete = mistakes.collect { () throws(YAMLFileError) in
            try entry.word("autocomplete", among: Control.autocompletes)
        }
        // Without the kind, it is not known which other keys the field may have.
        guard let kindType,
            let kind = mistakes.collect({ () throws(YAMLFileError) in try kindType.init(rules: &entry) })
        else { return nil }
        mistakes.add(entry.unknownKeys)
        guard mistakes.all.count == earlierMistakes, let name, let isIdentifier, let labels, let helps, let shortLabels
        else { return nil }
        let position = FieldPosition(
            name: name,
            earlierInStep: earlierInStep,
            earlierSteps: earlierSteps
        )
        let isValid: Void? = mistakes.collect { () throws(YAMLFileError) in
            try check(name, kind, isIdentifier, entry, at: position, hasAllEarlier: earlierMistakes == 0)
        }
        if isValid == nil { return nil }
        var control = kind.control
        control.autocomplete = (autocomplete ?? nil) ?? control.autocomplete
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

    /// - Parameter hasAllEarlier: true if no mistake was found before this field, so that `position` has all earlier
    ///   fields. If it is false, the kind does not check the position, because fields with mistakes may be missing.
    private static func check(
        _ name: String,
        _ kind: any FieldKind,
        _ isIdentifier: Bool,
        _ entry: YAMLEntry,
        at position: FieldPosition,
        hasAllEarlier: Bool
    ) throws(YAMLFileError) {
        let kindType = type(of: kind)
        if hasAllEarlier { try kind.check(entry, at: position) }
        if isIdentifier {
            guard kindType.canIdentify else {
                let kinds = KindList.identifying.map { "\"\($0)\"" }.joined(separator: " or ")
                throw entry.error("only a field of kind \(kinds) can be an identifier", at: "identifier")
            }
            if let rival = position.earlier.first(where: { $0.isIdentifier && type(of: $0.kind) == kindType }) {
                throw entry.error(
                    "\"\(rival.name)\" is already the identifier of kind \"\(kindType.name)\"",
                    at: "identifier"
                )
            }
        }
        // The JSON of an account already has the members `id` and `created_at`, and a recovery has the field
        // `second_factor`.
        if ["id", "created_at", "second_factor"].contains(name) { throw entry.error(reservedName(name), at: "name") }
        if KindList.identifying.contains(name), kindType.name != name {
            throw entry.error("only a field of kind \"\(name)\" can be named \"\(name)\"", at: "name")
        }
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
        "sign-out", "totp",
    ]

    /// Path segments below `/signup` that the service uses itself, and `sign-in`, the name of a step in the metrics
    /// (``Funnel``). So no step of a flow file may have these names.
    private static let reservedNames: Set<String> = [
        "review", "sign-in", "commit", "schema", "handoff", "resume", "ticket", "cancel",
    ]
}
