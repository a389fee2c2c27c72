extension Signups {
    /// Converts the image to a photo and stores it in the field. The other fields of the step do not change.
    ///
    /// - Parameter revision: the revision that the client requires, if any.
    package func keep(
        _ image: UploadedFile,
        in field: Field,
        at step: Step,
        of draft: Draft,
        at revision: Int? = nil
    ) async throws(SubmitError) -> Draft {
        var result: Photo?
        return try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
            let photo: Photo
            if let result {
                photo = result
            } else {
                try await self.countImage(of: draft)
                photo = try await self.photo(of: image, in: field.name)
            }
            result = photo
            var change = Change(values: draft.values)
            self.keep(photo, in: field.name, of: draft, &change)
            // If the step has only image fields, the image counts as its answer.
            if step.fields.allSatisfy({ $0.kind is ImageField }) { change.values.answered.insert(step.name) }
            return change
        }.draft
    }

    /// Deletes the photo in that field.
    package func removePhoto(
        of field: Field,
        at step: Step,
        of draft: Draft,
        at revision: Int? = nil
    ) async throws(SubmitError) -> Draft {
        try await revise(draft, step, at: revision) { (draft) throws(SubmitError) in
            if !draft.values.contains(field.name) { return nil }
            var change = Change(values: draft.values)
            change.values[field.name] = nil
            change.effects.append(Effect(statements: [deletePhotos(in: field.name, of: draft)]))
            return change
        }.draft
    }

    /// The photo of the draft in that field; nil if there is none, or if it cannot be decrypted.
    package func photo(in field: Field, of draft: Draft) async throws(DatabaseError) -> Photo? {
        guard let id = (draft.values[field.name] as? StoredPhoto)?.id else { return nil }
        let row = try await database.read(
            "SELECT sealed FROM draft_photos WHERE id = \(id) AND draft = \(draft.id)"
        ).first
        // The photo was replaced or deleted after the draft was read, or was encrypted with a key that is not in the
        // key ring.
        guard let row, let jpeg = try? keys.open(row.decode([UInt8].self), for: .photo(id)) else { return nil }
        return Photo(jpeg: jpeg)
    }

    /// Converts an image to a photo. Throws `refused` if the image is not supported or too large.
    func photo(of image: UploadedFile, in field: FieldName) async throws(SubmitError) -> Photo {
        do throws(ImageError) {
            return try await images.photo(of: image.bytes, for: network)
        } catch {
            guard case .fault(let fault) = error else { throw .image(error) }
            throw .refused([Refusal(fault, of: field)])
        }
    }

    /// Converts an image to a photo for an account. Throws `refused` if the image is not supported or too large; the
    /// image counts against the rate limits nevertheless.
    func photo(of image: UploadedFile, in field: FieldName, of account: Account) async throws(SignInError) -> Photo {
        let charges = imageCharges(of: account.id.bytes)
        let exceeded = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await consumeAlone(charges)
        }
        if let exceeded { throw .limited(exceeded) }
        do throws(ImageError) {
            return try await images.photo(of: image.bytes, for: network)
        } catch {
            guard case .fault(let fault) = error else { throw .image(error) }
            throw .refused([Refusal(fault, of: field)])
        }
    }

    /// The charges for an image of a draft or an account.
    func imageCharges(of id: [UInt8]) -> [Charge] {
        [charge(.images, id)] + charges(.imagesFromNetwork, of: network)
    }

    /// Counts the image against the rate limits before it is decoded, because decoding takes time even if the image is
    /// refused.
    private func countImage(of draft: Draft) async throws(SubmitError) {
        let charges = imageCharges(of: draft.id.bytes)
        let exceeded = try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            try await consumeAlone(charges)
        }
        if let exceeded { throw .limited(exceeded) }
    }

    /// Makes the photo the value of the field in the change. The change then also replaces the row of an earlier photo
    /// by a row for this one.
    func keep(_ photo: Photo, in field: FieldName, of draft: Draft, _ change: inout Change) {
        let id = ID<Photo>()
        change.values[field] = StoredPhoto(id: id, bytes: photo.jpeg.count)
        let insert: SQL = """
            INSERT INTO draft_photos (id, draft, field, sealed)
            SELECT \(id), \(draft.id), \(field.rawValue), \(keys.seal(photo.jpeg, for: .photo(id)))
             WHERE \(hasWritten(draft))
            """
        change.effects.append(Effect(statements: [deletePhotos(in: field, of: draft), insert]))
    }

    /// A statement to run after the draft was written: deletes the photos of the field.
    func deletePhotos(in field: FieldName, of draft: Draft) -> SQL {
        "DELETE FROM draft_photos WHERE draft = \(draft.id) AND field = \(field.rawValue) AND \(hasWritten(draft))"
    }
}

extension Refusal {
    fileprivate init(_ fault: ImageFault, of field: FieldName) {
        switch fault {
        case .unsupported: self.init(field, .unsupportedImage)
        case .tooLarge: self = .tooLarge(field)
        }
    }

    package static func tooLarge(_ field: FieldName) -> Refusal {
        let params: [String: JSON] = [
            "max_bytes": .integer(ImageFile.maximumBytes), "max_pixels": .integer(ImageFile.maximumPixels),
        ]
        return Refusal(field, .tooLarge, params)
    }
}
