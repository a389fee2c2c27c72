import Testing

@testable import Accounts

@Suite("Connection strings")
struct ConnectionStringTests {
    @Test(arguments: [
        "postgresql://kim:S3%cret@localhost/accounts", "host=localhost password=my S3cret",
        "postgresql://kim:S3/cret@localhost/accounts", "host=S3cret.invalid",
        "postgresql://kim:Pa@S3cret.invalid@localhost/accounts",
    ])
    func `an error does not contain the connection string`(conninfo: String) {
        let error = #expect(throws: DatabaseError.self) { _ = try Connection(to: conninfo) }
        #expect(error?.description.contains("S3") == false)
        guard case .unavailable? = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        ("host=db.example", ["db.example"]), ("postgresql://kim@db.example,localhost/accounts", ["db.example"]),
        ("host=192.0.2.1", ["192.0.2.1"]), ("host=127.db.example", ["127.db.example"]),
        ("postgresql://[2001:db8::1]/accounts", ["2001:db8::1"]),
        ("host=localhost hostaddr=192.0.2.1", ["192.0.2.1"]), ("host=db.example hostaddr=127.0.0.1", []),
        ("host=db.example,localhost hostaddr=,127.0.0.1", ["db.example"]), ("host=/run/postgresql", []),
        ("host=localhost,db.example hostaddr=''", ["db.example"]),
        ("host=@abstract", []), ("host=''", []), ("postgresql://%2Frun%2Fpostgresql/accounts", []),
        ("host=LOCALHOST", []), ("host=127.9.9.9", []), ("postgresql://[::1]/accounts", []),
    ])
    func `a host is remote if it is neither a socket nor loopback`(text: String, remoteHosts: [String]) throws {
        #expect(try #require(ConnectionString(text)).remoteHosts == remoteHosts)
    }

    @Test(arguments: [
        ("host=db.example dbname=people", "people"),
        ("postgresql://kim:secret@db.example/accounts?sslmode=require", "accounts"),
        ("people", "people"), ("host=db.example user=kim", "kim"),
    ])
    func `the name of the database is that of the user by default`(text: String, database: String) throws {
        #expect(try #require(ConnectionString(text)).database == database)
    }

    @Test(arguments: [
        ("host=db.example sslmode=verify-full", "verify-full", false),
        ("postgresql://db.example/accounts?sslmode=verify-ca", "verify-ca", true),
        ("host=db.example sslmode=require", "require", true), ("host=localhost sslmode=disable", "disable", false),
    ])
    func `a remote host is verified only with verify-full`(text: String, mode: String, isUnverified: Bool) throws {
        let connection = try #require(ConnectionString(text))
        #expect(connection.sslMode == mode && connection.statesSSLMode)
        #expect(connection.isUnverified == isUnverified)
    }

    @Test(arguments: [
        ("host=localhost password=secret", true), ("postgresql://kim:secret@localhost/accounts", true),
        ("postgresql://kim@localhost/accounts", false), ("host=localhost password=''", false), ("accounts", false),
    ])
    func `a password in the string is found`(text: String, containsPassword: Bool) throws {
        let connection = try #require(ConnectionString(text))
        #expect(connection.containsPassword == containsPassword && !connection.statesSSLMode)
    }

    @Test(arguments: [
        "host=localhost password=two words", "postgresql://kim:S3%cret@localhost/accounts", "service=a-b-c-d-e",
        "host=localhost color=blue",
    ])
    func `a string that libpq cannot use is refused`(text: String) {
        #expect(ConnectionString(text) == nil)
    }
}
