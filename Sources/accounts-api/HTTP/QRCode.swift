import CQRCode

/// A QR code (ISO/IEC 18004) that a page can show without script.
struct QRCode {
    /// True for dark modules, row by row. There are as many rows as columns.
    private let rows: [[Bool]]

    /// Returns nil if the text is empty, or longer than a QR code can hold, about 2,300 bytes.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        // Level M tolerates the loss of 15 % of the modules; version 0 selects the smallest size that fits.
        guard let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        rows = (0..<width).map { row in
            (0..<width).map { column in code.pointee.data[row * width + column] & 1 == 1 }
        }
    }

    /// The code as SVG, one unit per module. It includes the light margin of four modules that scanners need on any
    /// background.
    var svg: String {
        let size = rows.count + 8
        let runPaths = rows.enumerated().flatMap { y, row in
            Self.runs(of: row).map { "M\($0.lowerBound + 4) \(y + 4)h\($0.count)v1H\($0.lowerBound + 4)z" }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size) \(size)" shape-rendering="crispEdges">\
            <path fill="#fff" d="M0 0h\(size)v\(size)H0z"/><path d="\(runPaths.joined())"/></svg>
            """
    }

    /// The ranges of adjacent dark modules in a row.
    private static func runs(of row: [Bool]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for (column, isDark) in row.enumerated() where isDark {
            if let last = runs.last, last.upperBound == column {
                runs[runs.count - 1] = last.lowerBound..<column + 1
            } else {
                runs.append(column..<column + 1)
            }
        }
        return runs
    }
}
