internal import Glibc

/// The version of the service, by semantic versioning.
package let serviceVersion = "0.1.0"

/// A text that differs between two builds, even of one version: the version, and the size and modification time of the
/// executable. If the executable's file cannot be inspected, it is only the version.
package let buildIdentity: String = {
    var status = stat()
    guard stat("/proc/self/exe", &status) == 0 else { return serviceVersion }
    return "\(serviceVersion) \(status.st_size) \(status.st_mtim)"
}()
