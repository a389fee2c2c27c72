internal import Foundation

// libFuzzer contains the `main` of this program, and finds the function below by its name.

private let target = {
    let name = ProcessInfo.processInfo.environment["FUZZING"] ?? ""
    guard let target = Target(rawValue: name) else {
        fatalError("set FUZZING to one of these targets: \(Target.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return target
}()

/// Runs the target on one input. Returns -1 if libFuzzer must not keep the input, and otherwise 0.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(UnsafeRawBufferPointer(start: start, count: count)) ? 0 : -1
}
