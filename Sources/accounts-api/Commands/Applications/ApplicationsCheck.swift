import Accounts
import ArgumentParser

extension ApplicationCommands {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Validates an applications file as the server does; exits with 1 if it is invalid.",
            discussion: """
                Prints all mistakes. Also reads the files that contain the secrets of the applications. Without FILE \
                it validates APPLICATIONS_FILE. The claims are checked against the flow, and PUBLIC_URL decides \
                whether http://localhost is permitted.

                EXAMPLE
                  accounts-api applications check applications.yaml
                """
        )

        @Argument(help: "The applications file.", completion: .file(extensions: ["yaml", "yml"])) var file: String?
        @Option(\.flow) var flowFile: String?
        @Option(\.publicURL) var publicURL: String?
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let file = try ApplicationsFile(file, SettingSource([\.flow: flowFile, \.publicURL: publicURL]))
            do throws(ApplicationsFileError) {
                let applications = try file.read()
                if json {
                    print(Self.verdict(on: applications).text)
                } else {
                    for warning in applications.warnings { printError("\(warning)") }
                    print("\(file.path) is valid: \(counted(applications.all.count, "application"))")
                }
            } catch {
                guard json else { throw error }
                print(Self.verdict(on: error).text)
                throw ExitCode(1)
            }
        }

        private static func verdict(on applications: Applications) -> JSON {
            [
                "valid": true, "applications": .integer(applications.all.count),
                "warnings": .array(applications.warnings.map(finding)),
            ]
        }

        private static func verdict(on error: ApplicationsFileError) -> JSON {
            ["valid": false, "mistakes": .array(error.mistakes.map(finding))]
        }

        private static func finding(_ error: YAMLFileError) -> JSON {
            [
                "file": .string(error.file), "line": error.line.map(JSON.integer) ?? .null,
                "reason": .string(error.reason),
            ]
        }
    }
}
