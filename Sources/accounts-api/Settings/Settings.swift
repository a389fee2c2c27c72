import Accounts

/// The values of all settings. They have the names of the properties of ``SettingTable``, such as `settings.listen`.
@dynamicMemberLookup
struct Settings: Sendable {
    private let values: [String: any Sendable]
    /// The names of the settings that came from flags, which other users of the machine can read.
    let namesFromFlags: Set<String>
    /// The applications; nil if `APPLICATIONS_FILE` is not set.
    private(set) var applications: ApplicationRegistry?

    /// Reads and validates all settings. Throws all mistakes together.
    init(_ source: SettingSource) throws(SettingMistakes) {
        var values: [String: any Sendable] = [:]
        var (mistakes, temporary): ([String], [String]) = ([], [])
        for setting in SettingTable.entries {
            do throws(SettingMistakes) {
                values[setting.name] = try setting.read(from: source)
            } catch {
                // A setting that depends on another one throws the mistakes of that one again.
                mistakes += error.all.filter { !mistakes.contains($0) }
                temporary += error.temporary
            }
        }
        self.values = values
        namesFromFlags = source.namesFromFlags
        if let memory = valid(\.argon2Memory), let iterations = valid(\.argon2Iterations),
            let workers = valid(\.argon2Workers)
        {
            mistakes += Argon2Parameters(memoryKiB: memory, iterations: iterations).mistakes(workers: workers)
        }
        mistakes += transportMistakes + portMistakes
        if let file = applicationsFile {
            do throws(ApplicationsFileError) {
                applications = try ApplicationRegistry(file)
            } catch {
                mistakes += SettingMistakes(error).all
            }
        }
        if !mistakes.isEmpty { throw SettingMistakes(all: mistakes, temporary: temporary) }
    }

    subscript<Value>(dynamicMember setting: KeyPath<SettingTable, Setting<Value>>) -> Value {
        guard let value = valid(setting) else { preconditionFailure("init throws if any setting is invalid") }
        return value
    }

    /// The value of a setting; nil if it is invalid.
    func valid<Value>(_ setting: KeyPath<SettingTable, Setting<Value>>) -> Value? {
        values[SettingTable.shared[keyPath: setting].name].map { $0 as! Value }
    }

    /// The applications file; nil if its setting is not set or invalid, or if a setting that it depends on is invalid.
    private var applicationsFile: ApplicationsFile? {
        guard let path = valid(\.applicationsFile) ?? nil, let flow = valid(\.flow), let url = valid(\.publicURL) else {
            return nil
        }
        return ApplicationsFile(path: path, flow: flow, publicURL: url)
    }

    var serviceName: String {
        self.brand?.name ?? self[dynamicMember: \.serviceName] ?? self.flow.serviceName ?? "Accounts"
    }

    var argon2: Argon2Parameters { Argon2Parameters(memoryKiB: self.argon2Memory, iterations: self.argon2Iterations) }
}

extension SettingMistakes {
    init(_ error: ApplicationsFileError) {
        self.init(all: error.mistakes.map { "\(SettingTable.shared.applicationsFile.name): \($0)" })
    }
}

/// The settings of the pool that hashes passwords, without the priority of its threads.
struct HashingSettings: Sendable {
    let parameters: Argon2Parameters
    let workers: Int
    let queue: Int
    let maximumWait: Duration

    init(_ source: SettingSource) throws(SettingMistakes) {
        let (memory, iterations, workers, queue, wait) = try source.read(
            \.argon2Memory,
            \.argon2Iterations,
            \.argon2Workers,
            \.argon2Queue,
            \.argon2Wait
        )
        parameters = Argon2Parameters(memoryKiB: memory, iterations: iterations)
        (self.workers, self.queue, maximumWait) = (workers, queue, wait)
        let mistakes = parameters.mistakes(workers: workers)
        if !mistakes.isEmpty { throw SettingMistakes(all: mistakes) }
    }
}

extension Argon2Parameters {
    /// Returns the reasons why these parameters are refused: they are too weak, or all workers together need at least
    /// all the memory that this process may use.
    ///
    /// - Parameter memory: the memory in bytes that this process may use.
    func mistakes(workers: Int, within memory: Int = Machine.memory) -> [String] {
        var mistakes: [String] = []
        if !meetsFloor {
            mistakes.append(
                """
                ARGON2_MEMORY_KIB and ARGON2_ITERATIONS reach no minimum configuration of the OWASP Password Storage \
                Cheat Sheet, such as 19456 and 2
                """
            )
        }
        let (needed, available) = (memoryKiB(ofWorkers: workers) / 1024, memory >> 20)
        if needed >= available {
            mistakes.append(
                """
                ARGON2_WORKERS hashes of ARGON2_MEMORY_KIB need \(needed) MiB, with \(Self.overheadKiB / 1024) MiB of \
                overhead each, but only \(available) MiB are available
                """
            )
        }
        return mistakes
    }

    /// Returns the maximum memory of a hash in KiB with which ``mistakes(workers:within:)`` accepts that number of
    /// workers.
    ///
    /// - Parameter memory: the memory in bytes that this process may use.
    static func maximumMemoryKiB(workers: Int, within memory: Int) -> Int {
        ((memory >> 20) * 1024 - 1) / workers - overheadKiB
    }
}
