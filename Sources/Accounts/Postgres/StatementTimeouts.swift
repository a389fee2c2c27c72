/// How long the statements of a ``Database`` may run and wait for locks.
package struct StatementTimeouts: Sendable {
    /// The maximum time of a statement, including its waits for locks.
    package var statement: Duration
    /// The maximum wait of a grouped statement for a lock.
    package var groupedLock: Duration
    /// The maximum wait for a lock, in a job that runs alone.
    package var aloneLock: Duration
    /// The maximum wait for a lock, in a job that runs again because its first wait was too long.
    package var parkedLock: Duration

    /// The timeouts of the service.
    package static let standard = StatementTimeouts(
        statement: .seconds(10),
        groupedLock: .milliseconds(200),
        aloneLock: .milliseconds(100),
        parkedLock: .seconds(5)
    )

    /// The same timeout for everything. With a long timeout, no wait for a lock times out, so no job runs again and
    /// loses its place among the jobs that wait for that lock.
    package static func all(_ time: Duration) -> StatementTimeouts {
        StatementTimeouts(statement: time, groupedLock: time, aloneLock: time, parkedLock: time)
    }
}
