import TestSupport
import Testing

@testable import Accounts

@Suite("Notices of the server", .emptyDatabase, .timeLimit(.minutes(5)))
struct NoticeTests {
    private static let fuss: SQL = """
        DO $$ BEGIN RAISE NOTICE 'here is a notice'; RAISE WARNING 'here is a warning'; END $$
        """

    init() throws {
        try Session().run(
            """
            CREATE FUNCTION answer_with_fuss(answer int8) RETURNS int8 LANGUAGE plpgsql AS $$
            BEGIN
                RAISE NOTICE 'here is a notice';
                RAISE WARNING 'here is a warning';
                RETURN answer;
            END $$
            """
        )
    }

    @Test func `one beside an answer does not disturb it`() async throws {
        try await LaneUnderTest.lend { lane in
            for number in 1...3 {
                #expect(try await lane.submit(Self.fuss).rows().isEmpty)
                let answer = try await lane.submit("SELECT answer_with_fuss(\(number))").rows()
                #expect(try answer.only.decode(Int.self) == number)
            }
        }
    }

    @Test func `those inside a group leave every answer in its place`() async throws {
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.together { lane in
                (0..<30).map { number in
                    switch number % 3 {
                    case 0: lane.submit("SELECT \(number)")
                    case 1: lane.submit("SELECT answer_with_fuss(\(number))")
                    default: lane.submit(Self.fuss)
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

    @Test func `those inside a group with an error do not hide the culprit`() async throws {
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.together { lane in
                [
                    lane.submit("SELECT answer_with_fuss(\(1))"), lane.submit("SELECT 1 / answer_with_fuss(\(0))"),
                    lane.submit("SELECT answer_with_fuss(\(2))"),
                ]
            }
            #expect(try await jobs[0].rows().only.decode(Int.self) == 1)
            #expect(await jobs[1].failure()?.sqlState == "22012")
            #expect(try await jobs[2].rows().only.decode(Int.self) == 2)
        }
    }

    @Test func `nothing of them reaches standard error`() async throws {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [conninfo = FreshDatabase.current.conninfo as String] in
            try Session(to: conninfo).run("\(Self.fuss.text)")
            try await LaneUnderTest.lend(conninfo: conninfo) { lane in
                _ = try await lane.submit(Self.fuss).rows()
                for job in try await lane.together({ lane in [lane.submit(Self.fuss), lane.submit("SELECT 1")] }) {
                    _ = try await job.rows()
                }
            }
        }
        let standardError = try #require(child).standardErrorContent
        #expect(!String(decoding: standardError, as: UTF8.self).contains("here is a"))
    }
}
