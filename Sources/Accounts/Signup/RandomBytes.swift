extension [UInt8] {
    /// Makes bytes that nobody can predict. Asks the kernel once for every eight bytes.
    package static func random(count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count { Swift.withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
