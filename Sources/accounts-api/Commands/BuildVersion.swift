import Accounts
import CBuild

/// The version and the commit of this build.
enum BuildVersion {
    /// The version that `--version`, the log and the metrics show, such as `0.1.0+4be1ac2d90f1` for a release.
    static let text = text(commit: String(cString: source_commit()))

    /// - Parameter commit: the commit, which becomes the build metadata of the version (Semantic Versioning); empty if
    ///   the build does not know its commit.
    static func text(commit: String) -> String {
        commit.isEmpty ? serviceVersion : "\(serviceVersion)+\(commit)"
    }
}
