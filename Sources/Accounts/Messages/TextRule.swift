/// The rule for the contents of one text in a file of texts.
struct TextRule: Sendable {
    /// The placeholders that the text must have.
    var required: [String] = []
    /// The further placeholders that the text may have.
    var optional: [String] = []
    /// The placeholder with the number that decides between plural forms; nil if the text has one form.
    var counted: String?
    var allowsLineBreaks = false

    /// The placeholders that the text can have.
    var placeholders: [String] { required + optional }

    /// The rules of all texts, by their paths, such as `words.next`.
    static let all: [String: TextRule] = {
        var rules: [String: TextRule] = [:]
        for word in Word.allCases { rules["words.\(word.name)"] = TextRule(required: word.placeholders) }
        for problem in ProblemKind.allCases { rules["problems.\(problem.rawValue)"] = TextRule() }
        for code in Refusal.Code.allCases {
            let path = "refusals.\(code.rawValue)"
            for topic in RefusalTopic.allCases { rules["\(path).\(topic.rawValue)"] = TextRule() }
            rules.merge(special(code).map { ("\(path).\($0.key.rawValue)", $0.value) }) { $1 }
        }
        for unit in ["seconds", "minutes", "hours", "days"] {
            rules["times.\(unit)"] = TextRule(required: ["number"], counted: "number")
        }
        rules["date"] = TextRule(required: ["year", "day"], optional: ["month", "month_name"])
        return rules.merging(pages) { $1 }.merging(mails) { $1 }
    }()

    /// The paths of mappings, such as `refusals.required`.
    static let groups: Set<String> = Set(
        all.keys.flatMap { path -> [String] in
            let names = path.split(separator: ".")
            return (1..<max(1, names.count)).map { names.prefix($0).joined(separator: ".") }
        }
    )

    /// The rules of the messages about a refusal that depend on its parameters, or on the label of its field.
    private static func special(_ code: Refusal.Code) -> [RefusalVariant: TextRule] {
        switch code {
        case .required: [.labelled: TextRule(required: ["label"])]
        case .tooShort, .tooYoung: [.withNumber: TextRule(required: ["min"], counted: "min")]
        case .tooLong: [.withNumber: TextRule(required: ["max"], counted: "max")]
        case .badFormat:
            [
                .withDigits: TextRule(required: ["digits"], counted: "digits"),
                .withExample: TextRule(required: ["example"]),
            ]
        case .notAllowed: [.withRange: TextRule(required: ["min", "max"])]
        case .codeWrong:
            [.withAttempts: TextRule(required: ["attempts_left"], counted: "attempts_left"), .noAttempts: TextRule()]
        case .codeExhausted: [.final: TextRule(), .newSecret: TextRule()]
        default: [:]
        }
    }

    /// The rule of a text that may name the service.
    private static let named = TextRule(optional: ["service"])

    private static let pages: [String: TextRule] = [
        "pages.sign-up": named, "pages.continue-to": TextRule(required: ["application"]),
        "pages.choose-account": TextRule(required: ["application"]),
        "pages.too-often": TextRule(required: ["time"]), "pages.too-many-app-codes": TextRule(required: ["time"]),
        "pages.address-pause": TextRule(required: ["time"]),
        "pages.lost-factor": named, "pages.resume.title": named,
        "pages.resume.text": TextRule(required: ["address"], optional: ["service"]),
        "pages.resume.button": TextRule(),
        "pages.link-expired.title": named, "pages.link-expired.text": named,
        "pages.code-lifetime": TextRule(required: ["time"]),
        "pages.ticket.title": named,
        "pages.ticket.sign-up": TextRule(required: ["address"], optional: ["service"]),
        "pages.ticket.recovery": TextRule(required: ["address"], optional: ["service"]),
        "pages.ticket.button": TextRule(),
        "pages.ticket-expired.title": named, "pages.ticket-expired.text": named,
    ]

    private static let mails: [String: TextRule] = {
        func text(_ required: [String], _ optional: [String] = []) -> TextRule {
            TextRule(required: required, optional: optional + ["service"], allowsLineBreaks: true)
        }
        var rules = [
            "mails.help": text(["link"]),
            "mails.code.text": text(["request", "code"], ["time", "assurance"]),
            "mails.code.late": text(["link"], ["assurance"]), "mails.code.new-code": text(["link"]),
            "mails.notice.text": text(["change", "link"]),
            "mails.notice.without-password": text(["change", "link"]), "mails.notice.locked-out": text(["change"]),
            "mails.handoff.subject": named, "mails.handoff.text": text(["link", "code"], ["time"]),
            "mails.already-registered.subject": named, "mails.already-registered.text": text(["link"]),
            "mails.address-in-use.subject": named, "mails.address-in-use.text": text(["link"]),
            "mails.account-created.subject": named, "mails.account-created.text": text(["address"], ["link"]),
            "mails.address-left.subject": named, "mails.address-left.text": text(["link", "code"], ["time"]),
            "mails.address-left.without-password": text(["link", "code"], ["time"]),
        ]
        for mail in CodeMail.allCases {
            for part in ["subject", "request", "assurance"] { rules["mails.\(mail.rawValue).\(part)"] = named }
        }
        for notice in AccountNotice.allCases {
            rules["mails.\(notice.rawValue).subject"] = named
            if notice.hasOwnText {
                let parts = notice.namesPassword ? ["text", "without-password"] : ["text"]
                for part in parts { rules["mails.\(notice.rawValue).\(part)"] = text(notice.hasLink ? ["link"] : []) }
            } else {
                rules["mails.\(notice.rawValue).change"] = text([])
                if notice.hasAdvice { rules["mails.\(notice.rawValue).advice"] = text([]) }
            }
        }
        return rules
    }()
}

/// A message about a refusal that depends on its parameters, or on the label of its field. The raw value is its key in
/// a file of texts.
enum RefusalVariant: String, Sendable {
    case labelled, final
    case withNumber = "with-number"
    case withDigits = "with-digits"
    case withExample = "with-example"
    case withRange = "with-range"
    case withAttempts = "with-attempts"
    case noAttempts = "no-attempts"
    case newSecret = "new-secret"
}

extension Word {
    /// The placeholders that the pages and their script fill.
    var placeholders: [String] {
        switch self {
        case .sendAgainIn, .codeGoodFor, .codeUnderWay, .nextCodeIn: ["left"]
        case .lengthOf, .tooLongBy: ["length", "limit"]
        case .changeOf, .readText: ["what"]
        case .cropPlace: ["right", "down"]
        default: []
        }
    }
}
