internal import CZlib

/// Compresses files into the gzip format (RFC 1952).
enum Gzip {
    /// Returns the bytes in the gzip format, compressed at the highest level of zlib.
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        // Adding 16 to the window bits selects the gzip format. 8 is the default memory level.
        let status = deflateInit2_(
            &stream,
            Z_BEST_COMPRESSION,
            Z_DEFLATED,
            MAX_WBITS + 16,
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        precondition(status == Z_OK, "zlib cannot start: \(status)")
        defer { deflateEnd(&stream) }
        var input = bytes
        let bound = Int(deflateBound(&stream, uLong(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                let status = deflate(&stream, Z_FINISH)
                precondition(status == Z_STREAM_END, "zlib did not compress everything: \(status)")
            }
            count = Int(stream.total_out)
        }
    }
}
