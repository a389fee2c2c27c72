import Accounts
import ArgumentParser

extension Argon2Commands {
    struct Info: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows which libargon2 is loaded and measures the cost of a hash with the server's settings.",
            discussion: """
                Measures with all workers busy. glibc prefers a build for this processor from a glibc-hwcaps folder; \
                the printed path shows which build is loaded.

                EXAMPLE
                  accounts-api argon2 info
                """
        )

        @Option(\.argon2Memory) var argon2Memory: String?
        @Option(\.argon2Iterations) var argon2Iterations: String?
        @Option(\.argon2Workers) var argon2Workers: String?
        @Option(\.argon2Queue) var argon2Queue: String?
        @Option(\.argon2Wait) var argon2Wait: String?
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let settings = try HashingSettings(
                SettingSource([
                    \.argon2Memory: argon2Memory, \.argon2Iterations: argon2Iterations, \.argon2Workers: argon2Workers,
                    \.argon2Queue: argon2Queue, \.argon2Wait: argon2Wait,
                ])
            )
            try Argon2.selfTest()
            let report = try await HashingReport(of: settings.parameters, with: settings)
            if json {
                print(JSON.object([.init("library", .string(Argon2.library))] + report.members).text)
            } else {
                print("\(Argon2.library)\n\n\(report.text)")
            }
            if !Argon2.isForThisProcessor {
                printError("this libargon2 is a generic build: run scripts/argon2 for a faster one for this processor")
            }
        }
    }
}
