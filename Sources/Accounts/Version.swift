internal import Glibc

/// The version of the service, by semantic versioning.
package let serviceVersion = "0.1.0"

/// Differs for each build, even of the same version: the version, and the size and modification time of the executable.
package let buildIdentity: String = {
    var status = stat()
    guard stat("/proc/self/exe", &status) == 0 else { return serviceVersion }
    return "\(serviceVersion) \(status.st_size) \(status.st_mtim)"
}()
