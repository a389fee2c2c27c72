internal import Yams

/// Reads a texts file, with which a service adds languages or replaces texts (docs/texts.md), and collects its
/// mistakes.
struct TextsReader {
    private let file: String
    /// The languages whose texts the file may replace. For any other language, the file must have a `name`.
    private let builtIn: [LanguageTexts]
    private(set) var mistakes: [YAMLFileError] = []

    init(file: String, builtIn: [LanguageTexts]) { (self.file, self.builtIn) = (file, builtIn) }

    /// Returns the languages in the order of the file; nil if there are mistakes.
    mutating func read(_ yaml: String) -> [LanguageTexts]? {
        let name = file
        guard var entry = attempt({ () throws(YAMLFileError) in try YAMLEntry(yaml: yaml, file: name) }) else {
            return nil
        }
        let node = entry.node("languages")
        mistakes += entry.unknownKeys
        guard let node, case .mapping(let mapping) = node, !mapping.isEmpty else {
            mistakes.append(entry.error("\"languages\" must map a language tag, such as ja, to texts", at: "languages"))
            return nil
        }
        var languages: [LanguageTexts] = []
        for (key, value) in mapping {
            let tag = key.scalar?.string ?? ""
            guard Self.isTag(tag) else {
                mistakes.append(error("invalid language tag \"\(tag)\": use one such as ja or pt-BR", at: key))
                continue
            }
            guard !languages.contains(where: { $0.tag.lowercased() == tag.lowercased() }) else {
                mistakes.append(error("\"\(tag)\" appears twice", at: key))
                continue
            }
            languages.append(language(tag, value, at: key))
        }
        return mistakes.isEmpty ? languages : nil
    }

    /// Whether the text is a tag (RFC 5646 §2.1) of at most 35 bytes: a language of two or three letters and,
    /// optionally, a script, a region, and variants. Upper and lower case must be as RFC 5646 recommends, because
    /// stored tags are compared exactly.
    private static func isTag(_ tag: String) -> Bool {
        tag.utf8.count <= 35
            && tag.wholeMatch(
                of: /[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*/
            ) != nil
    }

    private mutating func language(_ tag: String, _ node: Node, at key: Node) -> LanguageTexts {
        var texts = LanguageTexts(tag: tag)
        let name = file
        guard var entry = attempt({ () throws(YAMLFileError) in try YAMLEntry(node, file: name) }) else {
            return texts
        }
        let earlier = builtIn.first { $0.tag == tag }
        let mistakesBefore = mistakes.count
        texts.name = attempt { () throws(YAMLFileError) in try entry.optionalText("name") } ?? nil
        if texts.name == nil, earlier == nil, mistakes.count == mistakesBefore {
            mistakes.append(error("\"name\" is missing: the name of the language in itself, such as 日本語", at: key))
        }
        let direction =
            attempt { () throws(YAMLFileError) in try entry.word("direction", among: ["ltr", "rtl"]) } ?? nil
        texts.isRightToLeft = direction.map { $0 == "rtl" }
        texts.months = months(in: &entry)
        texts.questions = questions(in: &entry)
        let rule = PluralRule(tag: tag)
        for path in ["date"] + TextRule.groups.filter({ !$0.contains(".") }).sorted() {
            if let node = entry.node(path) { read(node, path, rule, at: node, into: &texts) }
        }
        mistakes += entry.unknownKeys
        let date = texts.texts["date"] ?? earlier?.texts["date"]
        if let date, date.placeholders[.other]?.contains("month_name") == true,
            texts.months ?? earlier?.months == nil, mistakes.count == mistakesBefore
        {
            mistakes.append(entry.error("\"months\" is missing, but \"date\" has {month_name}", at: "date"))
        }
        return texts
    }

    private mutating func months(in entry: inout YAMLEntry) -> [String]? {
        guard let node = entry.node("months") else { return nil }
        let names = (node.sequence ?? []).compactMap { Self.text($0, allowsLineBreaks: false) }
        if names.count == 12, node.sequence?.count == 12 { return names }
        mistakes.append(entry.error("\"months\" must be a list of 12 names", at: "months"))
        return nil
    }

    /// Reads the translations of the texts of the flow. A translation may have several lines if the text of the flow
    /// has several lines.
    private mutating func questions(in entry: inout YAMLEntry) -> [String: String] {
        guard let node = entry.node("questions") else { return [:] }
        guard case .mapping(let mapping) = node else {
            mistakes.append(
                entry.error("\"questions\" must map texts of the flow to their translations", at: "questions")
            )
            return [:]
        }
        var questions: [String: String] = [:]
        for (key, value) in mapping {
            let text = key.scalar?.string ?? ""
            let allowsLineBreaks = text.contains("\n")
            guard let translation = Self.text(value, allowsLineBreaks: allowsLineBreaks) else {
                let kind = Self.validText(allowsLineBreaks: allowsLineBreaks)
                mistakes.append(error("the translation of \"\(text)\" must be \(kind)", at: key))
                continue
            }
            if questions.updateValue(translation, forKey: text) != nil {
                mistakes.append(error("\"\(text)\" appears twice", at: key))
            }
        }
        return questions
    }

    // MARK: Texts

    /// Reads a text, or a mapping of texts.
    private mutating func read(
        _ node: Node,
        _ path: String,
        _ plurals: PluralRule,
        at key: Node,
        into texts: inout LanguageTexts
    ) {
        if let rule = TextRule.all[path] {
            texts.texts[path] = template(node, path, rule, plurals, at: key)
            return
        }
        // A single text in place of a mapping counts as a mapping with only the entry `other`, which is for all cases
        // without a text of their own.
        if node.scalar != nil, let rule = TextRule.all["\(path).other"] {
            texts.texts["\(path).other"] = template(node, path, rule, plurals, at: key)
            return
        }
        guard case .mapping(let mapping) = node else {
            let either = TextRule.all["\(path).other"] == nil ? "" : "a text or "
            mistakes.append(error("\"\(path)\" must be \(either)a mapping of texts", at: key))
            return
        }
        let name = file
        guard let entry = attempt({ () throws(YAMLFileError) in try YAMLEntry(node, file: name) }) else { return }
        for (key, value) in mapping {
            guard let part = key.scalar?.string else { continue }
            let inner = "\(path).\(part)"
            if TextRule.all[inner] != nil || TextRule.groups.contains(inner) {
                read(value, inner, plurals, at: key, into: &texts)
            } else {
                mistakes.append(entry.error("unknown key \"\(part)\" in \"\(path)\"", at: part))
            }
        }
    }

    /// Reads the text of one path with its plural forms. If the text has mistakes, adds them and returns nil.
    private mutating func template(
        _ node: Node,
        _ path: String,
        _ rule: TextRule,
        _ plurals: PluralRule,
        at key: Node
    ) -> TextTemplate? {
        let before = mistakes.count
        var forms: [PluralForm: (text: String, key: Node)] = [:]
        if rule.counted != nil, case .mapping(let mapping) = node {
            for (formKey, value) in mapping {
                let name = formKey.scalar?.string ?? ""
                guard let form = PluralForm(rawValue: name), plurals.forms.contains(form) else {
                    let known = PluralForm.allCases.filter(plurals.forms.contains).map(\.rawValue)
                    let reason = "unknown plural form \"\(name)\" of \"\(path)\": use \(known.joined(separator: ", "))"
                    mistakes.append(error(reason, at: formKey))
                    continue
                }
                if let text = text(value, path, rule, at: formKey) { forms[form] = (text, formKey) }
            }
            if forms[.other] == nil, mistakes.count == before {
                let reason = "\"\(path)\" needs the plural form \"other\", for numbers without a form of their own"
                mistakes.append(error(reason, at: key))
            }
        } else if let text = text(node, path, rule, at: key) {
            forms[.other] = (text, key)
        }
        guard mistakes.count == before else { return nil }
        guard let template = try? TextTemplate(forms.mapValues(\.text)) else {
            let exception = rule.placeholders.isEmpty ? "" : " except those of its placeholders: \(Self.list(rule))"
            mistakes.append(error("\"\(path)\" must contain no braces\(exception)", at: key))
            return nil
        }
        for (form, placeholders) in template.placeholders {
            check(placeholders, path, rule, form, at: forms[form]?.key ?? key)
        }
        return mistakes.count == before ? template : nil
    }

    private mutating func check(
        _ placeholders: Set<String>,
        _ path: String,
        _ rule: TextRule,
        _ form: PluralForm,
        at node: Node
    ) {
        let lacksMonth = path == "date" && placeholders.isDisjoint(with: ["month", "month_name"])
        for name in rule.required + (lacksMonth ? ["month"] : []) where !placeholders.contains(name) {
            // Only the form `other` must show the number: another form may be for a single number.
            if form != .other, name == rule.counted { continue }
            mistakes.append(error("\"\(path)\" must have the placeholder {\(name)}", at: node))
        }
        for name in placeholders.subtracting(rule.placeholders).sorted() {
            let hint = rule.placeholders.isEmpty ? "it has none" : "it can have \(Self.list(rule))"
            mistakes.append(error("unknown placeholder {\(name)} in \"\(path)\": \(hint)", at: node))
        }
    }

    private static func list(_ rule: TextRule) -> String {
        rule.placeholders.map { "{\($0)}" }.joined(separator: ", ")
    }

    /// Returns the text of the node. If the node is not a valid text, adds a mistake and returns nil.
    private mutating func text(_ node: Node, _ path: String, _ rule: TextRule, at key: Node) -> String? {
        if let text = Self.text(node, allowsLineBreaks: rule.allowsLineBreaks) { return text }
        let kind = Self.validText(allowsLineBreaks: rule.allowsLineBreaks)
        mistakes.append(error("\"\(path)\" must be \(kind)", at: key))
        return nil
    }

    /// The part of an error that says what a valid text is.
    private static func validText(allowsLineBreaks: Bool) -> String {
        "a non-empty text\(allowsLineBreaks ? "" : " in one line"), without control characters"
    }

    private static func text(_ node: Node, allowsLineBreaks: Bool) -> String? {
        guard let text = YAMLEntry.text(node) else { return nil }
        let isAllowed = text.unicodeScalars.allSatisfy { allowsLineBreaks ? $0.isAllowedInLines : $0.isAllowedInLine }
        return isAllowed ? text : nil
    }

    // MARK: Collecting

    private func error(_ reason: String, at node: Node) -> YAMLFileError {
        YAMLFileError(file: file, line: node.mark?.line, reason: reason)
    }

    /// Returns the value that the body reads. If the body throws, adds the mistake and returns nil.
    private mutating func attempt<Value>(_ body: () throws(YAMLFileError) -> Value) -> Value? {
        do throws(YAMLFileError) {
            return try body()
        } catch {
            mistakes.append(error)
            return nil
        }
    }
}
