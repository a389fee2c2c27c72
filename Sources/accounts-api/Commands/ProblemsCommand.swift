import Accounts
import ArgumentParser
import HTTPTypes

/// The command that prints the reference for integrators, which the resources under `/problems` also contain.
struct ProblemsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "problems",
        abstract: "Prints every problem type and field code, with its meaning and remedy.",
        discussion: """
            --markdown prints the page docs/problems.md. --json prints the response of GET /problems.

            EXAMPLE
              accounts-api problems
            """
    )

    @Flag(help: "Prints a page of Markdown.") var markdown = false
    @Flag(help: "Prints JSON.") var json = false

    func run() throws {
        if markdown {
            print(ProblemReference.markdown, terminator: "")
        } else if json {
            print(ProblemReference.json.text)
        } else {
            print(Self.problems.text, Self.codes.text, separator: "\n\n")
        }
    }

    private static var problems: Table {
        Table(
            ["TYPE", "STATUS", "MEANING", "REMEDY"],
            ProblemKind.allCases.map { problem in
                [
                    .init(problem.rawValue), .init("\(problem.status.code)"), .init(problem.explanation.meaning),
                    .init(problem.explanation.remedy),
                ]
            }
        )
    }

    private static var codes: Table {
        Table(
            ["CODE", "MEANING", "REMEDY"],
            Refusal.Code.allCases.map { code in
                [.init(code.rawValue), .init(code.explanation.meaning), .init(code.explanation.remedy)]
            }
        )
    }
}
