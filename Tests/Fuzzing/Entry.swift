internal import Foundation

// libFuzzer brings the `main` of this program and calls the function below, which has the name that it looks for.

private let target = {
    let name = ProcessInfo.processInfo.environment["FUZZING"] ?? ""
    guard let target = Target(rawValue: name) else {
        fatalError("FUZZING names a target: \(Target.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return target
}()

/// -1 asks libFuzzer not to keep the input.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(UnsafeRawBufferPointer(start: start, count: count)) ? 0 : -1
}
