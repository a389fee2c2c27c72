import Accounts
import Foundation
import Synchronization

/// The source of settings. The value of a setting is that of its flag, otherwise that of its environment variable,
/// otherwise the content of the file that the variable `NAME_FILE` names.
struct SettingSource: Sendable {
    private let flags: [String: String]
    private let environment: [String: String]
    private let results = Results()

    /// The results of the settings that were read, by their names.
    private final class Results: Sendable {
        let byName = Mutex<[String: Result<any Sendable, SettingMistakes>]>([:])
    }

    /// - Parameter flags: the values of the flags, by the names of their settings.
    init(
        _ flags: [String: String],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.flags = flags
        self.environment = environment
    }

    /// - Parameter flags: the values of the flags; nil for a flag that was not given.
    init(
        _ flags: [PartialKeyPath<SettingTable>: String?] = [:],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let texts = flags.compactMap { setting, text in text.map { (SettingTable.entry(setting).name, $0) } }
        self.init(Dictionary(uniqueKeysWithValues: texts), environment: environment)
    }

    /// The names of the settings that flags set.
    var namesFromFlags: Set<String> { Set(flags.filter { !$0.value.isEmpty }.keys) }

    /// Reads several settings, or throws the mistakes of all of them.
    func read<each Value: Sendable>(
        _ settings: repeat KeyPath<SettingTable, Setting<each Value>>
    ) throws(SettingMistakes) -> (repeat each Value) {
        var (mistakes, temporary): ([String], [String]) = ([], [])
        func read<One: Sendable>(_ setting: KeyPath<SettingTable, Setting<One>>) -> One? {
            do throws(SettingMistakes) {
                return try SettingTable.shared[keyPath: setting].read(from: self)
            } catch {
                mistakes += error.all
                temporary += error.temporary
                return nil
            }
        }
        let values = (repeat read(each settings))
        if !mistakes.isEmpty { throw SettingMistakes(all: mistakes, temporary: temporary) }
        return (repeat (each values)!)
    }

    /// Returns the result of `read`. A later call for the same setting returns the same result, because a file may be a
    /// pipe, which can be read only once, and other settings may depend on the setting.
    func once<Value: Sendable>(
        _ name: String,
        _ read: () throws(SettingMistakes) -> Value
    ) throws(SettingMistakes) -> Value {
        if let known = results.byName.withLock({ $0[name] }), let value = try known.get() as? Value { return value }
        do throws(SettingMistakes) {
            let value = try read()
            results.byName.withLock { $0[name] = .success(value) }
            return value
        } catch {
            results.byName.withLock { $0[name] = .failure(error) }
            throw error
        }
    }

    /// The text of a setting; nil if it is not set or empty. One line break at the end of a file is dropped.
    ///
    /// If the text is in a file, each call reads the file. It may be a pipe, so call this in ``once(_:_:)``, or only
    /// once for each setting.
    func text(_ name: String) throws(SettingMistakes) -> (value: String, isFromFile: Bool)? {
        for text in [flags[name], environment[name]] {
            if let text, !text.isEmpty { return (text, false) }
        }
        guard let path = environment["\(name)_FILE"], !path.isEmpty else { return nil }
        let bytes = try Self.content(of: path, for: name)
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw SettingMistakes(all: ["\(name)_FILE: \(path.printable) is not UTF-8 text"])
        }
        if text.last?.isNewline == true { text.removeLast() }
        return text.isEmpty ? nil : (text, true)
    }

    /// Returns where the text of a setting comes from: `flag`, `environment` or the path of a file; nil if the setting
    /// is not set. Does not read the file, so an empty file counts as an origin.
    func origin(of name: String) -> String? {
        if flags[name]?.isEmpty == false { return "flag" }
        if environment[name]?.isEmpty == false { return "environment" }
        return environment["\(name)_FILE"].flatMap { $0.isEmpty ? nil : $0.printable }
    }

    private static func content(of path: String, for name: String) throws(SettingMistakes) -> [UInt8] {
        do throws(FileContent.Unreadable) {
            return try FileContent(of: path).bytes
        } catch {
            let mistake = "\(name)_FILE: cannot read \(path.printable): \(error.reason)"
            throw SettingMistakes(all: [mistake], temporary: [mistake])
        }
    }
}
