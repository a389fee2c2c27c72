extension Signups {
    /// Keeps a photo of the image in that field, and leaves the rest of its step alone.
    ///
    /// - Parameter revision: the revision that the client saw, if it insists on it.
    package func keep(
        _ image: UploadedFile,
        in field: Field,
        at step: Step,
        of draft: Draft,
        at revision: Int? = nil
    ) async throws(SubmitError) -> Draft {
        let photo = try await photo(of: image, in: field.name)
        return try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
            var change = Change(values: draft.values)
            keep(photo, in: field.name, &change)
            // Where nothing else is asked for, this was the answer.
            if step.fields.allSatisfy({ $0.kind is ImageField }) { change.values.answered.insert(step.name) }
            return change
        }.draft
    }

    /// Erases the photo of that field.
    package func removePhoto(
        of field: Field,
        at step: Step,
        of draft: Draft,
        at revision: Int? = nil
    ) async throws(SubmitError) -> Draft {
        try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
            if draft.values[field.name] == nil { return nil }
            var change = Change(values: draft.values)
            change.values[field.name] = nil
            change.effects.append(.dropPhoto(field.name))
            return change
        }.draft
    }

    /// The photo that the draft has in that field; nil where it has none.
    package func photo(in field: Field, of draft: Draft) async throws(DatabaseError) -> Photo? {
        guard let stored = StoredPhoto(stored: draft.values[field.name]) else { return nil }
        let row = try await database.read(
            "SELECT sealed FROM draft_photos WHERE id = \(stored.id) AND draft = \(draft.id)"
        ).first
        // Replaced since the draft was read, or sealed with a key that is gone.
        guard let row, let jpeg = try? keys.open(row.decode([UInt8].self), for: stored.id.bytes) else { return nil }
        return Photo(jpeg: jpeg)
    }

    /// - Throws: `refused` where nothing can be made of the image.
    func photo(of image: UploadedFile, in field: FieldName) async throws(SubmitError) -> Photo {
        do throws(ImageError) {
            return try await images.photo(of: image.bytes)
        } catch {
            guard case .fault(let fault) = error else { throw .image(error) }
            throw .refused([Refusal(fault, of: field)])
        }
    }

    func keep(_ photo: Photo, in field: FieldName, _ change: inout Change) {
        let id = ID<Photo>()
        change.values[field] = StoredPhoto(id: id, bytes: photo.jpeg.count).stored
        change.effects.append(.keepPhoto(field, id, sealed: keys.seal(photo.jpeg, for: id.bytes)))
    }
}

extension Refusal {
    fileprivate init(_ fault: ImageFault, of field: FieldName) {
        switch fault {
        case .unsupported: self.init(field, .unsupportedImage)
        case .tooLarge:
            self.init(
                field,
                .tooLarge,
                ["max_bytes": .integer(ImageFile.mostBytes), "max_pixels": .integer(ImageFile.mostPixels)]
            )
        }
    }
}
