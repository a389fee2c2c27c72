package import Foundation

/// What PostgreSQL says of itself.
package struct DatabaseServer: Sendable {
    /// Such as `15.18`.
    package let version: String
    /// The role of the connection.
    package let role: String
    package let now: Date
    /// The size of the database in bytes.
    package let size: Int
    /// The folder of the data if PostgreSQL runs on this machine and the role may know the folder; otherwise nil.
    package let localFolder: String?
}

extension Database {
    /// Throws `unavailable` if PostgreSQL does not answer in this time.
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
