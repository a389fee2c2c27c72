import Accounts
import ArgumentParser

extension Argon2Commands {
    struct Info: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Which libargon2 is loaded, and how many passwords a second it hashes with the settings of the server.",
            discussion: """
                Hashes for a moment with all workers at once. glibc loads a build for the processor at hand where there is \
                one in glibc-hwcaps; the path tells which it is.

                EXAMPLE
                  accounts-api argon2 info
                """
        )

        @Option(help: .of(.argon2Memory)) var argon2MemoryKib: String?
        @Option(help: .of(.argon2Iterations)) var argon2Iterations: String?
        @Option(help: .of(.argon2Workers)) var argon2Workers: String?
        @Option(help: .of(.argon2Queue)) var argon2Queue: String?
        @Flag(help: "Answers in JSON.") var json = false

        func run() async throws {
            let settings = try HashingSettings(
                SettingSource([
                    .argon2Memory: argon2MemoryKib, .argon2Iterations: argon2Iterations, .argon2Workers: argon2Workers,
                    .argon2Queue: argon2Queue,
                ])
            )
            try Argon2.selfTest()
            let report = try await HashingReport(
                of: settings.parameters,
                workers: settings.workers,
                queue: settings.queue
            )
            if json {
                print(JSON.object([.init("library", .string(Argon2.library))] + report.members).text)
            } else {
                print("\(Argon2.library)\n\n\(report.text)")
            }
            if !Argon2.isForThisProcessor {
                complain(
                    "this build is for any processor; scripts/argon2 makes those that hash faster"
                )
            }
        }
    }
}
