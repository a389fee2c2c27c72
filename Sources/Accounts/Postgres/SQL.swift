/// A statement or a part of one, with its bound values. Interpolation binds a value and never inserts its text.
/// Interpolation of another ``SQL`` inserts it as a part.
///
///     let spend: SQL = "UPDATE proofs SET attempts = attempts + 1 WHERE draft = \(draft.id)"
///
/// Every value is sent in binary format with its type and length. A text with a NUL is therefore not cut off:
/// PostgreSQL refuses it.
package struct SQL: ExpressibleByStringInterpolation, Sendable {
    /// The literal text around the values, one piece more than there are values.
    private var pieces: [String]
    private(set) var parameters: [SQLParameter]

    /// The text with `$1`, `$2`, … in place of the values.
    var text: String {
        var text = pieces[0]
        for (index, piece) in pieces.enumerated().dropFirst() {
            text += "$\(index)"
            text += piece
        }
        return text
    }

    package init(stringLiteral text: String) {
        pieces = [text]
        parameters = []
    }

    package init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.statement
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var statement = SQL(stringLiteral: "")

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ text: String) {
            statement.pieces[statement.pieces.count - 1] += text
        }

        package mutating func appendInterpolation<Value: SQLEncodable>(_ value: Value) {
            statement.bind(SQLParameter(type: Value.sqlType, bytes: value.sqlBytes))
        }

        package mutating func appendInterpolation<Value: SQLEncodable>(_ value: Value?) {
            statement.bind(SQLParameter(type: Value.sqlType, bytes: value?.sqlBytes))
        }

        /// Inserts a part of a statement with its values.
        package mutating func appendInterpolation(_ part: SQL) {
            appendLiteral(part.pieces[0])
            for (parameter, piece) in zip(part.parameters, part.pieces.dropFirst()) {
                statement.bind(parameter)
                appendLiteral(piece)
            }
        }
    }

    private mutating func bind(_ parameter: SQLParameter) {
        parameters.append(parameter)
        pieces.append("")
    }
}

extension SQL {
    /// A statement that changes a setting of PostgreSQL until the transaction ends. With `SET LOCAL` as its first
    /// statement, a pipeline without `BEGIN` would write a warning into the log of PostgreSQL each time.
    static func setting(_ name: String, _ value: String) -> SQL { "SELECT set_config(\(name), \(value), true)" }
}

/// One bound value in the binary format of PostgreSQL. If `bytes` is nil, the value is NULL.
struct SQLParameter: Sendable {
    let type: SQLType
    let bytes: [UInt8]?
}
