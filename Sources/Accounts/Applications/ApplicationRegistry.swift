internal import Synchronization

/// The applications that this server knows now. A reload replaces ``current`` while requests are running, so a request
/// that reads ``current`` twice may get the applications of two versions of the file.
package final class ApplicationRegistry: Sendable {
    private let read: @Sendable () throws(ApplicationsFileError) -> Applications
    private let applications: Mutex<Applications>
    private let reloading = Mutex(())

    package convenience init(_ file: ApplicationsFile) throws(ApplicationsFileError) {
        try self.init { () throws(ApplicationsFileError) in try file.read() }
    }

    /// - Parameter read: reads the applications. This initializer and each ``reload()`` call it.
    package init(_ read: @escaping @Sendable () throws(ApplicationsFileError) -> Applications)
        throws(ApplicationsFileError)
    {
        self.read = read
        applications = Mutex(try read())
    }

    package var current: Applications { applications.withLock { $0 } }

    /// Reads the file again and replaces ``current``. If the file has mistakes, throws them and keeps ``current``.
    /// Blocks while it reads.
    package func reload() throws(ApplicationsFileError) {
        // Reloads run one after another, so that an earlier version of the file never replaces a later one.
        try reloading.withLock { _ throws(ApplicationsFileError) in
            let new = try read()
            applications.withLock { $0 = new }
        }
    }
}
