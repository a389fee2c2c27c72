/// The members of ``FieldActs`` that a photo needs.
extension ImageField {
    package static var draftTables: [String] { ["draft_photos"] }

    package static var sealedTables: [SealedTable] {
        // A small batch, because photos are large.
        [SealedTable(plural: "photos", singular: "photo", table: "draft_photos", key: "id", batch: 10)]
    }

    package func check(_ entry: YAMLEntry, at position: FieldPosition) throws(YAMLFileError) {
        // The path of an image is the path of its step and the name of its field. Each step of a sign-up has these four
        // paths already.
        if ["check", "remove", "resend", "saved"].contains(position.name) {
            throw entry.error("the name \"\(position.name)\" is reserved: use another", at: "name")
        }
    }

    package func workCharges(_ field: Field, for submission: Submission) throws(SubmitError) -> [Charge] {
        let isDone = submission.completed.contains(field.name)
        guard submission.inputs[field.name] is UploadedFile, !isDone else { return [] }
        return submission.signups.imageCharges(of: submission.draft.id.bytes)
    }

    /// Converts the uploaded image to a photo and adds it to the change. Returns a refusal if the image is not
    /// supported or too large.
    package func work(_ field: Field, _ submission: inout Submission) async throws(SubmitError) -> [Refusal] {
        guard let image = submission.inputs[field.name] as? UploadedFile else { return [] }
        let signups = submission.signups
        do throws(SubmitError) {
            let photo = try await submission.completed.once(field.name) { () throws(SubmitError) -> Photo in
                try await signups.photo(of: image, in: field.name)
            }
            signups.keep(photo, in: field.name, of: submission.draft, &submission.change)
            return []
        } catch {
            guard case .refused(let refusals) = error else { throw error }
            return refusals
        }
    }

    package func clear(_ field: Field, of draft: Draft, by signups: Signups, _ change: inout Change) {
        change.effects.append(Effect(statements: [signups.deletePhotos(in: field.name, of: draft)]))
    }

    /// Decrypts the photo before the transaction. The transaction takes effect only if the draft is still at the same
    /// revision, so the photo is still the right one.
    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard plan.draft.values.contains(field.name) else { return }
        let (signups, draft) = (plan.signups, plan.draft)
        let photo = try await converting(to: CommitError.database) { () throws(DatabaseError) in
            try await signups.photo(in: field, of: draft)
        }
        // The photo was replaced or deleted after the draft was read, or cannot be decrypted.
        guard let photo else {
            plan.unreadableField = plan.unreadableField ?? field.name
            return
        }
        plan.statements.append(
            """
            INSERT INTO photos (account, field, type, image)
            SELECT id, \(field.name.rawValue), \(Photo.type), \(photo.jpeg) FROM \(plan.owner)
            """
        )
    }

    package static func accountValues(of account: ID<Account>) -> SQL? {
        "SELECT field, jsonb_build_object('bytes', length(image))::text FROM photos WHERE account = \(account)"
    }

    /// Converts a new image to a photo now, before the transaction. In the transaction, stores it in place of an
    /// earlier photo, or deletes the account's photo if the new values have none.
    package func edit(_ field: Field, _ plan: inout EditPlan) async throws(SignInError) {
        let photo: Photo?
        if let image = plan.inputs[field.name] as? UploadedFile {
            photo = try await plan.signups.photo(of: image, in: field.name, of: plan.account)
        } else {
            if plan.after.contains(field.name) || !plan.before.contains(field.name) { return }
            photo = nil
        }
        plan.statements.append(
            """
            SELECT replace_photo(\(plan.account.id), \(field.name.rawValue), \(Photo.type), \(photo?.jpeg))
             WHERE \(EditPlan.isMade)
            """
        )
    }

    package static func accountQuery(of account: ID<Account>) -> AccountQuery? {
        AccountQuery(
            select: "SELECT field, length(image) FROM photos WHERE account = \(account) ORDER BY field"
        ) { rows throws(DatabaseError) in
            var section = AccountSection()
            var sizes: [JSON.Member] = []
            for row in rows {
                let (field, bytes) = try row.decode(String.self, Int.self)
                section.entries.append(.init(label: field, text: "photo", note: "\(bytes) bytes"))
                sizes.append(.init(field, .integer(bytes)))
            }
            section.members = [.init("photos", .object(sizes))]
            return section
        }
    }

    package func masked(_ value: StoredPhoto) -> String { "set" }
    package func revealed(_ value: StoredPhoto) -> String { "set" }

    package func templateMembers(_ form: FormField) -> [JSON.Member] {
        var members: [JSON.Member] = [.init("accept", .string(Self.types.joined(separator: ",")))]
        if form.shown != .null {
            let path = form.step.photoPath(of: form.field)
            members.append(.init("photo", .string(path)))
            // In a sign-up, a required photo can be removed, too: its step then asks for another one.
            if !form.step.isOfAccount || !form.step.requires(form.field) {
                members.append(.init("remove", .string("\(path)/remove")))
            }
        }
        return members
    }

    package func reviewText(_ shown: JSON, in language: Language) -> String { language.messages.text(.yourPicture) }
}
