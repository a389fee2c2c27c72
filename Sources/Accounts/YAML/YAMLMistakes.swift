/// Collects the mistakes of one file. All copies of an entry, and the entries below it, share this object.
final class YAMLMistakes {
    private(set) var all: [YAMLFileError] = []

    /// Returns the result of `body`. If it throws, collects its mistakes and returns nil.
    @discardableResult
    func collect<Value>(_ body: () throws(YAMLFileError) -> Value) -> Value? {
        do throws(YAMLFileError) {
            return try body()
        } catch {
            all += error.all
            return nil
        }
    }

    func add(_ mistakes: [YAMLFileError]) { all += mistakes }
}
