package import Foundation

/// The checkout from which the tests were built.
package enum Repository {
    /// The top folder of the checkout.
    package static let root = URL(filePath: #filePath).appending(path: "../../..").standardized
}
