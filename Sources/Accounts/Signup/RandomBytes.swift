extension [UInt8] {
    /// Makes bytes that nobody can predict. Each eight of them take one call of the kernel.
    package static func random(count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count { Swift.withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
