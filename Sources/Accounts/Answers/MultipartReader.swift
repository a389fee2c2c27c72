internal import Foundation

extension Answers {
    /// Reads the body of a form with files (`multipart/form-data`, RFC 7578) as strictly as a form without files.
    /// Throws if there is anything before or between the parts, or anything but an optional line break after them; if
    /// the body ends before the last boundary; if a part has no name; if a name that is not repeatable is repeated; if
    /// a text is not UTF-8, contains NUL or has too many combining marks in a row; if a header is malformed or too long;
    /// or if there are more than `maximumParts` parts.
    ///
    /// - Parameters:
    ///   - boundary: the parameter `boundary` of the media type.
    ///   - secretNames: names whose texts are secrets.
    ///   - repeatableNames: names that may be repeated. Their texts become an array of strings. Any other answer is a
    ///     string, a secret or a file.
    ///   - maximumParts: the maximum number of parts.
    package static func readMultipart(
        _ bytes: UnsafeRawBufferPointer,
        boundary: String,
        secretNames: Set<String> = [],
        repeatableNames: Set<String> = [],
        maximumParts: Int = .max
    ) throws(MalformedBody) -> Answers {
        var reader = MultipartReader(bytes: bytes, boundary: boundary)
        var members = FormMembers(repeatableNames: repeatableNames, maximumMembers: maximumParts)
        while let part = try reader.nextPart() {
            let answer: FieldAnswer
            if secretNames.contains(part.name) {
                answer = .secret(SharedSecret(try reader.text(part.content)))
            } else if part.isFile {
                answer = .file(UploadedFile(Array(bytes[part.content])))
            } else {
                let text = try reader.text(part.content).withBytes { (bytes) throws(MalformedBody) in
                    try String(ofBody: bytes, at: part.content.lowerBound)
                }
                answer = .json(.string(text))
            }
            try members.add(answer, named: part.name, at: part.content.lowerBound)
        }
        return members.answers
    }
}

/// Reads the parts in one pass, by the rules of
/// ``Answers/readMultipart(_:boundary:secretNames:repeatableNames:maximumParts:)``.
private struct MultipartReader {
    private let bytes: UnsafeRawBufferPointer
    private let delimiter: [UInt8]
    private var position = 0

    struct Part {
        let name: String
        let isFile: Bool
        let content: Range<Int>
    }

    /// The maximum number of bytes in one header line of a part. This service chooses it; no standard does.
    private static let maximumLineLength = 1024
    /// The maximum number of header lines of a part. This service chooses it; no standard does.
    private static let maximumLines = 8

    init(bytes: UnsafeRawBufferPointer, boundary: String) {
        self.bytes = bytes
        delimiter = Array("--\(boundary)".utf8)
    }

    /// Returns the next part; nil after the last one.
    mutating func nextPart() throws(MalformedBody) -> Part? {
        if position == 0 { try skip(delimiter) }
        if peek("--") {
            try skip(Array("--".utf8))
            if position < bytes.count { try skip(Self.lineBreak) }
            guard position == bytes.count else { throw fault(.trailingBytes) }
            return nil
        }
        try skip(Self.lineBreak)
        let header = try header()
        guard let end = find(Self.lineBreak + delimiter) else {
            throw MalformedBody(reason: .unexpectedEnd, offset: bytes.count)
        }
        let content = position..<end
        position = end + Self.lineBreak.count + delimiter.count
        return Part(name: header.name, isFile: header.isFile, content: content)
    }

    func text(_ range: Range<Int>) throws(MalformedBody) -> Secret {
        try Secret(capacity: range.count) { (buffer) throws(MalformedBody) in
            let text = UnsafeRawBufferPointer(rebasing: bytes[range])
            if let index = text.firstIndex(of: 0) {
                throw MalformedBody(reason: .nul, offset: range.lowerBound + index)
            }
            guard text.visitScalars({ _ in }) else { throw MalformedBody(reason: .notUTF8, offset: range.lowerBound) }
            buffer.copyMemory(from: text)
            return text.count
        }
    }

    // MARK: The header of a part

    private mutating func header() throws(MalformedBody) -> (name: String, isFile: Bool) {
        var found: (name: String, isFile: Bool)?
        for _ in 0...Self.maximumLines {
            let start = position
            guard let end = find(Self.lineBreak) else { throw fault(.unexpectedEnd) }
            guard end - start <= Self.maximumLineLength else { throw fault(.lineTooLong) }
            position = end + Self.lineBreak.count
            if start == end {
                guard let found else { throw MalformedBody(reason: .unexpectedEnd, offset: start) }
                return found
            }
            if let offset = bytes[start..<end].firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) {
                throw MalformedBody(reason: .controlCharacter, offset: offset)
            }
            let text = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            guard text.visitScalars({ _ in }) else { throw MalformedBody(reason: .notUTF8, offset: start) }
            let line = try String(ofBody: text, at: start)
            // A line that begins with a space would continue the line before it (RFC 5322 §2.2.3). Such a line is
            // refused, because no browser sends one.
            guard let colon = line.firstIndex(of: ":"), bytes[start] != UInt8(ascii: " "), colon != line.startIndex
            else {
                throw MalformedBody(reason: .unexpectedByte, offset: start)
            }
            guard line[..<colon].lowercased() == "content-disposition" else { continue }
            guard found == nil, let disposition = Disposition(line[colon...].dropFirst()) else {
                throw MalformedBody(reason: .unexpectedByte, offset: start)
            }
            found = (disposition.name, disposition.isFile)
        }
        throw fault(.tooMany)
    }

    // MARK: Bytes

    private static let lineBreak = Array("\r\n".utf8)

    private func fault(_ reason: MalformedBody.Reason) -> MalformedBody {
        MalformedBody(reason: reason, offset: position)
    }

    private func peek(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private mutating func skip(_ expected: [UInt8]) throws(MalformedBody) {
        guard bytes[position...].starts(with: expected) else {
            throw fault(bytes.count - position < expected.count ? .unexpectedEnd : .unexpectedByte)
        }
        position += expected.count
    }

    /// The position where these bytes occur next; nil if they do not occur.
    private func find(_ wanted: [UInt8]) -> Int? {
        var index = position
        while let start = bytes.baseAddress, bytes.count - index >= wanted.count,
            let found = memchr(start + index, Int32(wanted[0]), bytes.count - index - wanted.count + 1)
        {
            index = UnsafeRawPointer(found) - start
            if bytes[index...].starts(with: wanted) { return index }
            index += 1
        }
        return nil
    }
}

/// The value of a part's header `Content-Disposition`, such as `form-data; name="photo"; filename="me.jpg"` (RFC 7578
/// §4.2).
private struct Disposition {
    let name: String
    let isFile: Bool

    /// Returns nil if the text is not the disposition of a form part.
    init?(_ text: Substring) {
        var rest = text.drop { $0 == " " }
        guard rest.lowercased().hasPrefix("form-data") else { return nil }
        rest = rest.dropFirst("form-data".count)
        var parameters: [String: String] = [:]
        while !rest.drop(while: { $0 == " " }).isEmpty {
            rest = rest.drop { $0 == " " }
            guard rest.first == ";", let equals = rest.firstIndex(of: "=") else { return nil }
            let key = rest[..<equals].dropFirst().drop { $0 == " " }.lowercased()
            rest = rest[rest.index(after: equals)...]
            guard let value = Self.value(&rest), parameters.updateValue(value, forKey: key) == nil else { return nil }
        }
        guard let name = parameters["name"] else { return nil }
        self.name = name
        isFile = parameters["filename"] != nil || parameters["filename*"] != nil
    }

    /// Removes the value of a parameter from the beginning of `rest`, and returns it: the text between quotes or,
    /// without quotes, the text up to the next `;` or space. Returns nil if the closing quote is missing, or if a value
    /// without quotes is empty.
    ///
    /// Browsers send a backslash as it is, and a quote as `%22` (HTML, multipart/form-data encoding algorithm). Other
    /// clients put a backslash before a quote. So a quote after a backslash ends the value only if the text ends after
    /// it, or if a `;` follows.
    private static func value(_ rest: inout Substring) -> String? {
        let scalars = rest.unicodeScalars
        guard scalars.first == "\"" else {
            let value = scalars.prefix { $0 != ";" && $0 != " " }
            rest = Substring(scalars[value.endIndex...])
            return value.isEmpty ? nil : String(value)
        }
        var index = scalars.index(after: scalars.startIndex)
        while let quote = scalars[index...].firstIndex(of: "\"") {
            let next = scalars.index(after: quote)
            let isEscaped = scalars[scalars.index(before: quote)] == "\\" && quote != index
            let follower = scalars[next...].first { $0 != " " }
            if !isEscaped || follower == nil || follower == ";" {
                let value = scalars[scalars.index(after: scalars.startIndex)..<quote]
                rest = Substring(scalars[next...])
                return String(value)
            }
            index = next
        }
        return nil
    }
}
