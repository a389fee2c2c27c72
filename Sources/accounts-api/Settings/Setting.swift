import ArgumentParser
import Logging

/// A value that the operator can set: by a flag, an environment variable, or a file.
///
/// This definition is the source of the flag, the validation, the command-line help and docs/configuration.md.
struct Setting<Value: Sendable>: AnySetting {
    /// The value of a setting that the operator does not set.
    enum Default: Sendable {
        /// There is no default: a command that reads the setting fails without a value.
        case required
        /// The associated value, which the documentation does not show.
        case empty(Value)
        /// The value that `parse` reads from this text. The documentation shows the text.
        case text(String)
        /// The value that the function returns. The documentation shows the text.
        case computed(String, @Sendable () throws -> Value)
        /// Like ``computed(_:_:)``, for a value that depends on other settings.
        case derived(String, @Sendable (SettingSource) throws -> Value)
    }

    let name: String
    let hasFlag: Bool
    let meaning: String
    let completion: CompletionKind?
    private let mask: (@Sendable (String) -> String)?
    private let defaultValue: Default
    private let parse: @Sendable (String, SettingSource) throws -> Value

    /// - Parameters:
    ///   - name: the environment variable, such as `LISTEN`.
    ///   - hasFlag: false if the whole value is a secret, because other users of the machine can read flags.
    ///   - meaning: a description with the unit of the value, for the documentation and the help.
    ///   - mask: removes the secrets from the text of a value. Pass nil if the text contains no secret, or if the whole
    ///     text is a secret.
    ///   - parse: reads and validates a text. If it throws ``SettingMistakes``, these are the error messages. For any
    ///     other error, the message is the name of the setting and the error.
    init(
        _ name: String,
        default defaultValue: Default,
        hasFlag: Bool = true,
        completion: CompletionKind? = nil,
        mask: (@Sendable (String) -> String)? = nil,
        _ meaning: String,
        parse: @escaping @Sendable (String) throws -> Value
    ) {
        self.init(name, default: defaultValue, hasFlag: hasFlag, completion: completion, mask: mask, meaning) {
            text,
            _ in try parse(text)
        }
    }

    /// - Parameter parse: reads and validates a text. It may read other settings on which the value depends.
    init(
        _ name: String,
        default defaultValue: Default,
        hasFlag: Bool = true,
        completion: CompletionKind? = nil,
        mask: (@Sendable (String) -> String)? = nil,
        _ meaning: String,
        parse: @escaping @Sendable (String, SettingSource) throws -> Value
    ) {
        self.name = name
        self.hasFlag = hasFlag
        self.meaning = meaning
        self.completion = completion
        self.mask = mask
        self.defaultValue = defaultValue
        self.parse = parse
    }

    /// Returns the text of a value without secrets. The whole value of a setting without a flag is a secret.
    func shown(_ text: String) -> String { mask.map { $0(text) } ?? (hasFlag ? text : "•••") }

    var isRequired: Bool {
        if case .required = defaultValue { true } else { false }
    }

    var defaultText: String? {
        switch defaultValue {
        case .required, .empty: nil
        case .text(let text), .computed(let text, _), .derived(let text, _): text
        }
    }

    /// A copy of this setting for commands that can run without it: if the operator sets nothing, the value is nil.
    var ifSet: Setting<Value?> {
        let parse = parse
        return Setting<Value?>(
            name,
            default: .empty(nil),
            hasFlag: hasFlag,
            completion: completion,
            mask: mask,
            meaning
        ) { text, source in try parse(text, source) }
    }

    func read(from source: SettingSource) throws(SettingMistakes) -> Value {
        try source.once(name) { () throws(SettingMistakes) -> Value in try firstValue(in: source) }
    }

    private func firstValue(in source: SettingSource) throws(SettingMistakes) -> Value {
        let text = try source.text(name)
        do {
            if let text { return try parse(text.value, source) }
            switch defaultValue {
            case .required: throw SettingMistakes(all: ["\(name) is missing"])
            case .empty(let value): return value
            case .text(let text): return try parse(text, source)
            case .computed(_, let value): return try value()
            case .derived(_, let value): return try value(source)
            }
        } catch let mistakes as SettingMistakes {
            throw mistakes
        } catch let error as InvalidSettingText {
            throw SettingMistakes(all: ["\(name): \(error.message(isFromFile: text?.isFromFile ?? false))"])
        } catch {
            throw SettingMistakes(all: ["\(name): \(error)"])
        }
    }
}

/// A setting with any type of value.
protocol AnySetting: Sendable {
    associatedtype Value: Sendable

    /// The environment variable, such as `LISTEN`. `LISTEN_FILE` names a file with the value.
    var name: String { get }
    var hasFlag: Bool { get }
    var isRequired: Bool { get }
    /// The default as the documentation shows it; nil if it shows none.
    var defaultText: String? { get }
    var meaning: String { get }
    /// How a shell completes the value of the flag.
    var completion: CompletionKind? { get }

    func shown(_ text: String) -> String

    func read(from source: SettingSource) throws(SettingMistakes) -> Value
}

extension AnySetting {
    /// The flag without its leading dashes, such as `database-url`.
    var flagName: String { name.lowercased().replacing("_", with: "-") }

    /// The flag, such as `--database-url`; nil if the setting has none.
    var flag: String? { hasFlag ? "--\(flagName)" : nil }
}

/// Errors in settings. The description has one line for each.
struct SettingMistakes: Error, CustomStringConvertible {
    let all: [String]
    /// Those errors that may be gone at the next attempt: the file with the value of a setting cannot be read, another
    /// program has a port, or the machine does not have an address yet.
    var temporary: [String] = []

    /// Whether the same settings may be accepted at the next attempt.
    var areTemporary: Bool { all.allSatisfy(temporary.contains) }

    var description: String { all.joined(separator: "\n") }
}

/// A risk that the settings accept, for the log of the server.
struct SettingWarning: Sendable {
    let message: Logger.Message
    let metadata: Logger.Metadata
}
