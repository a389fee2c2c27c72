/// The reference to a photo in the values of a draft or of an account. The photo itself has its own row.
package struct StoredPhoto: StoredValue {
    /// The id of the photo's row; nil for the photo of an account, whose row has no id.
    let id: ID<Photo>?
    /// The length of the photo in bytes.
    let bytes: Int

    init(id: ID<Photo>?, bytes: Int) {
        (self.id, self.bytes) = (id, bytes)
    }

    package init?(json: JSON) {
        guard case .integer(let bytes)? = json["bytes"] else { return nil }
        self.init(id: json["photo"]?.string.flatMap(ID<Photo>.init), bytes: bytes)
    }

    package var json: JSON { ["photo": id.map { .string("\($0)") } ?? .null, "bytes": .integer(bytes)] }
}
