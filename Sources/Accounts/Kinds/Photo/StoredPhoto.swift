/// The reference to a photo in the values of a draft. The photo itself has its own row.
package struct StoredPhoto: StoredValue {
    let id: ID<Photo>
    /// Length in bytes.
    let bytes: Int

    init(id: ID<Photo>, bytes: Int) {
        (self.id, self.bytes) = (id, bytes)
    }

    package init?(json: JSON) {
        guard let id = json["photo"]?.string.flatMap(ID<Photo>.init), case .integer(let bytes)? = json["bytes"]
        else { return nil }
        self.init(id: id, bytes: bytes)
    }

    package var json: JSON { ["photo": .string("\(id)"), "bytes": .integer(bytes)] }
}
