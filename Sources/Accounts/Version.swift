internal import Glibc

/// The version of the service, by semantic versioning.
package let serviceVersion = "0.1.0"

/// A text that differs between two builds, even of one version, unless their executables have the same size and
/// modification time. It has the version, and that size and time; only the version if the file cannot be inspected.
package let buildIdentity: String = {
    var status = stat()
    guard stat("/proc/self/exe", &status) == 0 else { return serviceVersion }
    return "\(serviceVersion) \(status.st_size) \(status.st_mtim)"
}()
