internal import Synchronization

/// The applications that the server serves. A request takes ``current`` once, so that a reload does not disturb it.
package final class ApplicationRegistry: Sendable {
    private let read: @Sendable () throws(ApplicationsFileError) -> Applications
    private let applications: Mutex<Applications>
    private let reloading = Mutex(())

    package convenience init(_ file: ApplicationsFile) throws(ApplicationsFileError) {
        try self.init { () throws(ApplicationsFileError) in try file.read() }
    }

    /// - Parameter read: reads the applications, now and at each reload.
    package init(_ read: @escaping @Sendable () throws(ApplicationsFileError) -> Applications)
        throws(ApplicationsFileError)
    {
        self.read = read
        applications = Mutex(try read())
    }

    package var current: Applications { applications.withLock { $0 } }

    /// Reads the file again. If it has mistakes, the applications stay as they were. Blocks while it reads.
    package func reload() throws(ApplicationsFileError) {
        // One at a time, so that an earlier text never replaces a later one.
        try reloading.withLock { _ throws(ApplicationsFileError) in
            let new = try read()
            applications.withLock { $0 = new }
        }
    }
}
