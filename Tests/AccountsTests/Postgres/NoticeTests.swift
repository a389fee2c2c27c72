import TestSupport
import Testing

@testable import Accounts

@Suite("Server notices", .emptyDatabase, .timeLimit(.minutes(30)))
struct NoticeTests {
    private static let notices: SQL = """
        DO $$ BEGIN RAISE NOTICE 'here is a notice'; RAISE WARNING 'here is a warning'; END $$
        """

    init() throws {
        try DatabaseSession().run(
            """
            CREATE FUNCTION answer_with_notices(answer int8) RETURNS int8 LANGUAGE plpgsql AS $$
            BEGIN
                RAISE NOTICE 'here is a notice';
                RAISE WARNING 'here is a warning';
                RETURN answer;
            END $$
            """
        )
    }

    @Test func `a notice does not affect the answer`() async throws {
        try await LaneUnderTest.lend { lane in
            for number in 1...3 {
                #expect(try await lane.submit(Self.notices).rows().isEmpty)
                let answer = try await lane.submit("SELECT answer_with_notices(\(number))").rows()
                #expect(try answer.only.decode(Int.self) == number)
            }
        }
    }

    @Test func `notices in a group do not affect the order of its answers`() async throws {
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.submitTogether { lane in
                (0..<30).map { number in
                    switch number % 3 {
                    case 0: lane.submit("SELECT \(number)")
                    case 1: lane.submit("SELECT answer_with_notices(\(number))")
                    default: lane.submit(Self.notices)
                    }
                }
            }
            for (number, job) in jobs.enumerated() {
                let answer = try await job.rows()
                if number % 3 == 2 {
                    #expect(answer.isEmpty)
                } else {
                    #expect(try answer.only.decode(Int.self) == number)
                }
            }
        }
    }

    @Test func `notices in a group with an error do not hide the failed statement`() async throws {
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.submitTogether { lane in
                [
                    lane.submit("SELECT answer_with_notices(\(1))"),
                    lane.submit("SELECT 1 / answer_with_notices(\(0))"),
                    lane.submit("SELECT answer_with_notices(\(2))"),
                ]
            }
            #expect(try await jobs[0].rows().only.decode(Int.self) == 1)
            #expect(await jobs[1].failure()?.sqlState == "22012")
            #expect(try await jobs[2].rows().only.decode(Int.self) == 2)
        }
    }

    @Test func `notices are not written to standard error`() async throws {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [conninfo = FreshDatabase.current.conninfo as String] in
            try DatabaseSession(to: conninfo).run("\(Self.notices.text)")
            try await LaneUnderTest.lend(conninfo: conninfo) { lane in
                _ = try await lane.submit(Self.notices).rows()
                let jobs = try await lane.submitTogether { [$0.submit(Self.notices), $0.submit("SELECT 1")] }
                for job in jobs { _ = try await job.rows() }
            }
        }
        let standardError = try #require(child).standardErrorContent
        #expect(!String(decoding: standardError, as: UTF8.self).contains("here is a"))
    }
}
