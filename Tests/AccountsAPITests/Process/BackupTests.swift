import Accounts
import Foundation
import TestSupport
import Testing

@Suite("A restored database", .freshDatabase, .timeLimit(.minutes(30)))
struct BackupTests {
    @Test func `an unfinished sign-up continues on the restored database with the same keys`() async throws {
        let mails = Mails()
        let before = try await ServerProcess.start(database: FreshDatabase.current.conninfo, mails: mails)
        let kim = SignupClient("kim@example.com", mails: mails)
        try await kim.begin(at: before.port)
        for step in ["email", "code", "password", "profile"] { try await kim.step(step, at: before.port) }
        let lee = SignupClient("lee@example.com", mails: mails)
        try await lee.begin(at: before.port)
        for step in ["email", "code", "password", "profile", "contact", "terms"] {
            try await lee.step(step, at: before.port)
        }
        try await lee.createAccount(at: before.port)
        #expect(await before.end(by: SIGTERM) == 0)

        try await Cluster.withRunning { cluster in
            let role = try DatabaseSession(to: cluster.conninfo).query("SELECT session_user::text").only
                .decode(String.self)
            try Dump.copy(FreshDatabase.current.conninfo, to: cluster.conninfo, ownedBy: role)
            let after = try await ServerProcess.start(database: cluster.conninfo, mails: mails)
            for step in ["contact", "terms"] { try await kim.step(step, at: after.port) }
            try await kim.createAccount(at: after.port)
            #expect(try await lee.commit(at: after.port).status == 200, "the same account as before")
            let session = try DatabaseSession(to: cluster.conninfo)
            #expect(try session.query("SELECT count(*) FROM accounts").only.decode(Int.self) == 2)
            #expect(await after.end(by: SIGTERM) == 0)
        }
    }
}
