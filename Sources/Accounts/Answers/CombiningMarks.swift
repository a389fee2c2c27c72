extension UnsafeRawBufferPointer {
    /// The number of combining marks in the longest run of a text in UTF-8.
    ///
    /// To compare or hash a `String`, Swift sorts the marks of each run, in quadratic time: one text of 64 KiB would
    /// keep a core busy for a second. No language needs more than thirty in a row (Unicode Standard Annex 15 §13).
    fileprivate var longestRunOfMarks: Int {
        let isASCII = reduce(0, |) < 0x80
        if isASCII { return 0 }
        var (run, longest) = (0, 0)
        _ = visitScalars { scalar in
            run = scalar.isCombiningMark ? run + 1 : 0
            longest = Swift.max(longest, run)
        }
        return longest
    }
}

extension Unicode.Scalar {
    /// Whether normalisation may move the scalar: its combining class is not 0, or it is one of the three scalars of
    /// class 0 that consist of such marks.
    fileprivate var isCombiningMark: Bool {
        properties.canonicalCombiningClass != .notReordered || [0xF73, 0xF75, 0xF81].contains(value)
    }
}

extension String {
    /// True if at most thirty combining marks follow each other. Other texts take too long to compare and to normalise.
    package var isStreamSafe: Bool {
        var text = self
        return text.withUTF8 { UnsafeRawBufferPointer($0).longestRunOfMarks } <= 30
    }

    /// Makes a text of a part of a body, which must be UTF-8. Throws if a hundred combining marks or more follow each
    /// other. A text with fewer can be compared, so that its field may refuse it with a message.
    ///
    /// - Parameter offset: the position in the body that the error reports.
    init(ofBody bytes: UnsafeRawBufferPointer, at offset: Int) throws(MalformedBody) {
        guard bytes.longestRunOfMarks < 100 else { throw MalformedBody(reason: .tooManyMarks, offset: offset) }
        self.init(decoding: bytes, as: UTF8.self)
    }
}
