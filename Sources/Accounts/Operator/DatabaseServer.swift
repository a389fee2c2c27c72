package import Foundation

/// Facts about the PostgreSQL server and the connection, as the server reports them.
package struct DatabaseServer: Sendable {
    /// The version, such as `15.18`.
    package let version: String
    /// The role of the connection.
    package let role: String
    package let now: Date
    /// The size of the database in bytes.
    package let size: Int
    /// The data directory. Nil if the role has no privilege to read this setting, or if the two ends of the connection
    /// have different addresses, for example because PostgreSQL runs on another machine.
    package let localFolder: String?
}

extension Database {
    /// Asks PostgreSQL for the members of ``DatabaseServer``. Throws `unavailable` if it does not answer within `time`.
    package func server(within time: Duration) async throws(DatabaseError) -> DatabaseServer {
        let query: SQL = """
            SELECT split_part(current_setting('server_version'), ' ', 1), current_user::text, clock_timestamp(),
                   pg_database_size(current_database()),
                   (SELECT setting FROM pg_settings
                     WHERE name = 'data_directory' AND inet_server_addr() IS NOT DISTINCT FROM inet_client_addr())
            """
        let outcome: Result<Rows, DatabaseError> = await Deadline.$current.withValue(Deadline(in: time)) {
            do throws(DatabaseError) { return .success(try await read(query)) } catch { return .failure(error) }
        }
        let (version, role, now, size, folder) = try outcome.get().only.decode(
            String.self,
            String.self,
            Date.self,
            Int.self,
            String?.self
        )
        return DatabaseServer(version: version, role: role, now: now, size: size, localFolder: folder)
    }
}
