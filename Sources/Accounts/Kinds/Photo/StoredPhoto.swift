/// How the values of a draft name its photo, which has a row of its own.
struct StoredPhoto: Hashable {
    let id: ID<Photo>
    /// Length in bytes.
    let bytes: Int

    init(id: ID<Photo>, bytes: Int) {
        (self.id, self.bytes) = (id, bytes)
    }

    /// Nil for anything that ``stored`` never made.
    init?(stored: JSON?) {
        guard let id = stored?["photo"]?.string.flatMap(ID<Photo>.init), case .integer(let bytes)? = stored?["bytes"]
        else { return nil }
        self.init(id: id, bytes: bytes)
    }

    var stored: JSON { ["photo": .string("\(id)"), "bytes": .integer(bytes)] }
}
