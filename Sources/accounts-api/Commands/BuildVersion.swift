import Accounts
import CBuild

/// The version and the commit of this build.
enum BuildVersion {
    /// The version that `--version`, the log and the metrics show, such as `0.1.0+4be1ac2d90f1` for a release.
    static let text = text(commit: String(cString: source_commit()))

    /// - Parameter commit: build metadata of semantic versioning; empty if the commit is not known.
    static func text(commit: String) -> String {
        commit.isEmpty ? serviceVersion : "\(serviceVersion)+\(commit)"
    }
}
