import Accounts
import HTTPTypes

extension ProblemReference {
    /// The content of docs/problems.md.
    static let markdown = """
        # Problems

        When the service refuses a request, it answers with a problem: `application/problem+json` (RFC 9457). This page lists
        every problem type and every code of a refused field, with its meaning and what a client does about it. What an
        explanation says of a sign-up also applies to a recovery and to a change of the address, under their own paths.

        The `type` of a problem is a URL, `<PUBLIC_URL>/problems/<slug>`. It resolves to the explanation below, as HTML for
        browsers and as JSON for programs; `/problems` has all of them. `accounts-api problems --markdown` prints this page; a
        test compares the two.

        Every problem has these members:

        | member | meaning |
        |---|---|
        | `type` | identifies the problem type |
        | `title` | says the same in words, in the language of the sign-up or of the request |
        | `status` | the status of the answer |
        | `detail` | says more about this occurrence, in English, for developers |
        | `request_id` | finds the request in the log; the same as the header field `X-Request-Id` |

        A program decides by `type` and by field codes. `title`, `detail` and `message` are for people, and their words can
        change.

        ## Problem types

        | status | slug | title |
        |---|---|---|
        \(ProblemKind.allCases.map(row).joined(separator: "\n"))

        \(ProblemKind.allCases.map(section).joined(separator: "\n\n"))

        ## Field codes

        `validation-failed` has a list `errors` with an entry for each fault. The answer to
        `POST /signup/<step>/check` has such a list, too. An entry has `pointer` (RFC 6901) and `field`, which say where
        the fault is; `code`; `params`, with the values that belong to the code; and `message`, a text for the person in
        the language of the sign-up or of the request.

        | code | meaning | what to do | `params` |
        |---|---|---|---|
        \(Refusal.Code.allCases.map(row).joined(separator: "\n"))

        """

    private static func row(of problem: ProblemKind) -> String {
        let slug = problem.rawValue
        return "| \(problem.status.code) | [`\(slug)`](#\(slug)) | \(title(of: problem)) |"
    }

    private static func section(of problem: ProblemKind) -> String {
        var lines = [
            "### \(problem.rawValue)", "",
            "**\(problem.status.code) \(title(of: problem)).** \(problem.explanation.meaning)", "",
            "**What to do:** \(problem.explanation.remedy)",
        ]
        if !problem.members.isEmpty { lines += ["", "Further members: \(list(problem.members))."] }
        if !problem.headers.isEmpty { lines += ["", "Header fields: \(list(problem.headers))."] }
        return lines.joined(separator: "\n")
    }

    private static func row(of code: Refusal.Code) -> String {
        "| `\(code.rawValue)` | \(code.explanation.meaning) | \(code.explanation.remedy) | \(list(code.params)) |"
    }

    private static func list(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }
}
