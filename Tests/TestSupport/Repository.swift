package import Foundation

/// The checkout from which the tests were built.
package enum Repository {
    /// The top folder.
    package static let root = URL(filePath: #filePath).appending(path: "../../..").standardized
}
