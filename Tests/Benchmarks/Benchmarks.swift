internal import Foundation

/// The benchmarks of `scripts/bench`, by name.
@main
enum Benchmarks {
    static func main() throws {
        switch CommandLine.arguments.dropFirst() {
        case ["validation"]: try Validation.measure()
        default: fatalError("usage: Benchmarks validation")
        }
    }
}
