import Testing

@testable import Accounts

@Suite("The multipart form reader")
struct MultipartReaderTests {
    private func read(
        _ body: String,
        secret: Set<String> = [],
        repeatable: Set<String> = [],
        maximumParts: Int = .max
    ) throws(MalformedBody) -> Answers {
        try read(Array(body.utf8), secret: secret, repeatable: repeatable, maximumParts: maximumParts)
    }

    private func read(
        _ body: [UInt8],
        secret: Set<String> = [],
        repeatable: Set<String> = [],
        maximumParts: Int = .max
    ) throws(MalformedBody) -> Answers {
        do {
            return try body.withUnsafeBytes {
                try Answers.readMultipart(
                    $0,
                    boundary: "B",
                    secretNames: secret,
                    repeatableNames: repeatable,
                    maximumParts: maximumParts
                )
            }
        } catch let error as MalformedBody {
            throw error
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// The reason why the form is refused; nil if it is not.
    private func reason(_ body: [UInt8], maximumParts: Int = .max) -> MalformedBody.Reason? {
        do throws(MalformedBody) {
            _ = try read(body, maximumParts: maximumParts)
            return nil
        } catch {
            return error.reason
        }
    }

    private func part(_ disposition: String, _ content: String) -> String {
        "--B\r\nContent-Disposition: form-data; \(disposition)\r\n\r\n\(content)\r\n"
    }

    @Test func `texts and files are read with their names`() throws {
        let body =
            Array((part("name=\"a\"", "킴\r\nzwei") + part("name=b", "")).utf8)
            + Array(
                "--B\r\ncontent-type: image/png\r\nCONTENT-DISPOSITION:form-data;filename=\"a;b\\\".png\";name=\"p\"\r\n\r\n"
                    .utf8
            )
            + [0, 0xFF, 0x0D, 0x0A, 0x2D, 0x2D] + Array("\r\n--B--\r\n".utf8)
        let form = try read(body)
        #expect(form["a"]?.json == "킴\r\nzwei" && form["b"]?.json == "")
        guard case .file(let file)? = form["p"] else {
            Issue.record("the answer is not a file")
            return
        }
        #expect(file.bytes == [0, 0xFF, 0x0D, 0x0A, 0x2D, 0x2D])
    }

    /// Browsers send a backslash in the name of a file as it is.
    @Test(arguments: ["photo\\", "C:\\photo.png", "a\\\"b.png", "\u{301} photo.png", "a;b.png"])
    func `the name of a file may have any characters`(name: String) throws {
        let form = try read(
            part("filename=\"\(name)\"; name=\"p\"", "x") + part("name=\"q\"; filename=\"\(name)\"", "y") + "--B--"
        )
        for field in ["p", "q"] {
            guard case .file? = form[FieldName(field)] else {
                Issue.record("the answer is not a file")
                continue
            }
        }
    }

    @Test(arguments: [
        "Content-Disposition: form-data; name=\"a\"\r\n ; filename=\"x\"", "X", ": form-data",
        "Content-Disposition: form-data; name=\"a\"\r\n \u{301}; filename=\"x:y\"",
    ])
    func `a header line without a name is refused`(header: String) {
        #expect(reason(Array("--B\r\n\(header)\r\n\r\nx\r\n--B--".utf8)) == .unexpectedByte)
    }

    @Test func `an empty form has no members`() throws {
        #expect(try read("--B--").members.isEmpty && read("--B--\r\n").members.isEmpty)
    }

    @Test func `an empty file counts as blank`() throws {
        let form = try read(part("name=\"p\"; filename=\"\"", "") + "--B--\r\n")
        #expect(form["p"]?.isBlank == true)
    }

    @Test func `members that the caller lists as secret are read as secrets, and repeated members become lists`() throws
    {
        let body = part("name=\"s\"", "1") + part("name=\"s\"", "2") + part("name=\"p\"", "hidden") + "--B--"
        let form = try read(body, secret: ["p"], repeatable: ["s"])
        #expect(form["s"]?.json == ["1", "2"])
        guard case .secret(let secret)? = form["p"] else {
            Issue.record("the answer is not a secret")
            return
        }
        #expect(secret.secret.withBytes { Array($0) } == Array("hidden".utf8))
        let file = try read(part("name=\"p\"; filename=\"x\"", "hidden") + "--B--", secret: ["p"])
        guard case .secret? = file["p"] else {
            Issue.record("a secret member with a file name is not a secret")
            return
        }
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd), ("--", .unexpectedEnd), ("--C--", .unexpectedByte), ("\r\n--B--", .unexpectedByte),
            ("--B--\r\nmore", .trailingBytes), ("--B--more", .unexpectedByte), ("--B\r\n", .unexpectedEnd),
            ("--B\r\n\r\nvalue\r\n--B--", .unexpectedEnd),
            ("--B\r\nContent-Disposition: form-data\r\n\r\nvalue\r\n--B--", .unexpectedByte),
            ("--B\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nvalue\r\n--B--", .unexpectedByte),
            ("--B\r\nContent-Disposition: form-data; name=\"a\r\n\r\nvalue\r\n--B--", .unexpectedByte),
            ("--B\r\nContent-Disposition: form-data; name=\"a\"; name=\"b\"\r\n\r\nvalue\r\n--B--", .unexpectedByte),
            ("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue--B--", .unexpectedEnd),
            ("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n--Bxy", .unexpectedByte),
            ("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\0\r\n--B--", .nul),
            ("--B\r\nContent-Disposition: form-data; name=\"a\0\"\r\n\r\n1\r\n--B--", .controlCharacter),
        ] as [(String, MalformedBody.Reason)]
    )
    func `a malformed form is refused`(_ body: String, _ reason: MalformedBody.Reason) {
        #expect { try read(body) } throws: { ($0 as? MalformedBody)?.reason == reason }
    }

    @Test
    func `repeated names, invalid UTF-8, too many marks, parts or header lines, and long header lines are refused`() {
        let twice = part("name=\"a\"", "1") + part("name=\"a\"", "2") + "--B--"
        #expect(reason(Array(twice.utf8)) == .duplicateName)
        let bytes =
            Array("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n".utf8) + [0xFF] + Array("\r\n--B--".utf8)
        #expect(reason(bytes) == .notUTF8)
        let marks = String(repeating: "\u{316}", count: 100)
        #expect(reason(Array((part("name=\"a\"", marks) + "--B--").utf8)) == .tooManyMarks)
        #expect(reason(Array((part("name=\"a\(marks)\"", "1") + "--B--").utf8)) == .tooManyMarks)
        #expect(reason(Array("--B\r\n\(marks): 1\r\n\r\n".utf8)) == .tooManyMarks)
        let many = part("name=\"a\"", "1") + part("name=\"b\"", "2") + "--B--"
        #expect(reason(Array(many.utf8), maximumParts: 1) == .tooMany)
        let header = "--B\r\n" + String(repeating: "X: 1\r\n", count: 9) + "\r\n"
        #expect(reason(Array(header.utf8)) == .tooMany)
        let line = { (length: Int) in Array("--B\r\nX: \(String(repeating: "1", count: length - 3))\r\n\r\n".utf8) }
        #expect(reason(line(1024)) == .unexpectedEnd, "the line is accepted, but the part has no name")
        #expect(reason(line(1025)) == .lineTooLong)
    }

    @Test func `a truncated form is refused, unless only its last line break is missing`() throws {
        let whole = Array((part("name=\"a\"", "kim") + part("name=\"p\"; filename=\"x\"", "data") + "--B--\r\n").utf8)
        for count in 0..<whole.count {
            do throws(MalformedBody) {
                _ = try read(Array(whole[..<count]))
                #expect(count == whole.count - 2)
            } catch {
                #expect((0...count).contains(error.offset))
            }
        }
    }
}
