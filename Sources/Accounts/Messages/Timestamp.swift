package import Foundation

extension Date {
    /// The time in the format of RFC 3339, in UTC, without fractions of a second.
    package var timestamp: String { timestamp(decimals: 0) }

    /// The time in the format of RFC 3339, in UTC, with three decimals.
    package var timestampWithMilliseconds: String { timestamp(decimals: 3) }

    /// - Parameter decimals: 0 or 3, of a second. Further ones are cut off.
    private func timestamp(decimals: Int) -> String {
        // From 1970 to 9999. For other years there is Foundation, which takes four times as long.
        guard (0..<253_402_300_800).contains(timeIntervalSince1970) else { return formatted(.iso8601) }
        let milliseconds = Int(timeIntervalSince1970 * 1000)
        var time: time_t = milliseconds / 1000
        var parts = tm()
        gmtime_r(&time, &parts)
        return String(unsafeUninitializedCapacity: 24) { buffer in
            var count = 0
            func append(_ number: Int, digits: Int, _ end: Unicode.Scalar?) {
                var rest = number
                for position in (count..<count + digits).reversed() {
                    buffer[position] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                count += digits
                guard let end else { return }
                buffer[count] = UInt8(ascii: end)
                count += 1
            }
            append(Int(parts.tm_year) + 1900, digits: 4, "-")
            append(Int(parts.tm_mon) + 1, digits: 2, "-")
            append(Int(parts.tm_mday), digits: 2, "T")
            append(Int(parts.tm_hour), digits: 2, ":")
            append(Int(parts.tm_min), digits: 2, ":")
            append(Int(parts.tm_sec), digits: 2, decimals == 0 ? "Z" : ".")
            if decimals == 3 { append(milliseconds % 1000, digits: 3, "Z") }
            return count
        }
    }
}
