internal import Foundation

/// The benchmarks of `scripts/bench`, by name.
@main
enum Benchmarks {
    static func main() throws {
        switch CommandLine.arguments.dropFirst() {
        case ["validation"]: try Validation.measure()
        case ["enumeration"]: try Enumeration.measure()
        case ["erasure"]: try Erasure.measure()
        case ["refusals"]: try RefusedRequests.measure()
        default: fatalError("usage: Benchmarks enumeration|erasure|refusals|validation")
        }
    }
}
