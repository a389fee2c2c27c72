internal import CArgon2
internal import Foundation
internal import Synchronization

@testable import Accounts

/// Measures the hashes of one thread, compared with Debian's libargon2, which allocates its memory with `malloc`.
enum Hashes {
    /// The costs to measure, with their targets, which are higher with AVX-512 than with AVX2.
    private static var costs: [(parameters: Argon2Parameters, target: Double)] {
        let targets = Argon2.library.contains("x86-64-v4") ? [2.6, 4] : [2, 3]
        return [
            (Argon2Parameters(memoryKiB: 19_456, iterations: 2), targets[0]),
            (Argon2Parameters(memoryKiB: 47_104, iterations: 1), targets[1]),
        ]
    }

    static func measure(into report: inout Report, _ extent: Extent) throws {
        // Without LD_LIBRARY_PATH, the loader finds Debian's library.
        var stock = ProcessInfo.processInfo.environment
        stock["LD_LIBRARY_PATH"] = nil
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        var table = Table("hash", "stock a second", "ours a second", "ratio")
        for (parameters, target) in costs {
            let numbers = ["\(parameters.memoryKiB)", "\(parameters.iterations)"]
            var rates: [(stock: Double, ours: Double)] = []
            for _ in 0..<extent.rounds {
                rates.append(
                    (
                        try rate(output(of: program, ["hash", "stock"] + numbers, stock)),
                        try rate(output(of: program, ["hash", "ours"] + numbers))
                    )
                )
            }
            let name = "m=\(parameters.memoryKiB), t=\(parameters.iterations)"
            report.add(
                Goal(
                    "hashes a second of a thread ÷ stock libargon2, \(name)",
                    atLeast: target,
                    rates.map { $0.ours / $0.stock }
                )
            )
            table.append(
                name,
                String(format: "%.1f", rates.map(\.stock).median),
                String(format: "%.1f", rates.map(\.ours).median),
                String(format: "%.2f", rates.map { $0.ours / $0.stock }.median)
            )
        }
        report.add(
            table,
            under:
                "Hashes of one thread; ours with \(Argon2.library.split(separator: "/").suffix(3).joined(separator: "/"))"
        )
    }

    private static func rate(_ text: String) throws -> Double {
        guard let rate = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Service.Failure(description: "no rate: \(text)")
        }
        return rate
    }

    /// Prints the hashes a second. Runs in its own process, which has loaded one of the two libraries.
    ///
    /// - Parameter arguments: `stock` or `ours`, KiB, iterations.
    static func printRate(_ arguments: ArraySlice<String>) throws {
        let numbers = arguments.compactMap { Int($0) }
        let isStock = arguments.first == "stock"
        let parameters = Argon2Parameters(memoryKiB: numbers[0], iterations: numbers[1])
        let arena = try Arena(kibibytes: parameters.memoryKiB)
        let rate = Mutex(0.0)
        // Both libraries hash on a dedicated thread, as in the hashing pool.
        let thread = DedicatedThread(named: "hashes") {
            let password = Secret(normalising: "four plain words here")
            func hash() {
                if isStock {
                    var tag = [UInt8](repeating: 0, count: 32)
                    let salt = [UInt8](repeating: 7, count: 16)
                    password.withBytes { password in
                        _ = argon2id_hash_raw(
                            UInt32(parameters.iterations),
                            UInt32(parameters.memoryKiB),
                            1,
                            password.baseAddress,
                            password.count,
                            salt,
                            salt.count,
                            &tag,
                            tag.count
                        )
                    }
                } else {
                    _ = try? Argon2.hash(password, with: parameters, in: arena)
                }
            }
            hash()
            let start = ContinuousClock.now
            var count = 0
            while ContinuousClock.now - start < .seconds(1) {
                hash()
                count += 1
            }
            let took = ContinuousClock.now - start
            rate.withLock { $0 = Double(count) / (took / .seconds(1)) }
        }
        thread.join()
        print(rate.withLock { $0 })
    }
}
