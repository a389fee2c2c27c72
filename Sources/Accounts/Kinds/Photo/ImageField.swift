/// A field for an image file. The service converts the file to a ``Photo`` and stores only that. JSON never contains
/// the file.
package struct ImageField: FieldKind {
    package typealias Value = StoredPhoto
    package typealias Input = UploadedFile
    package static let name = "image"
    /// The accepted media types.
    package static let types = ["image/jpeg", "image/png", "image/webp"]
    package static let maximumBytes = ImageFile.maximumBytes

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {}

    /// Checks only that the answer is a file. ``ImagePool`` checks later that the file contains an image.
    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> UploadedFile
    {
        guard case .file(let file) = answer else { throw Refusals(field, .wrongType, ["expected": "file"]) }
        return file
    }

    package func isValid(_ value: StoredPhoto, of field: FieldName, in context: ValidationContext) -> Bool { true }

    package func shown(_ value: StoredPhoto, at place: DisplayContext) -> JSON {
        [
            "type": .string(Photo.type), "width": .integer(Photo.side), "height": .integer(Photo.side),
            "bytes": .integer(value.bytes),
        ]
    }

    package func shownSchema(at place: DisplayContext) -> JSON {
        [
            "type": "object", "additionalProperties": false, "required": ["type", "width", "height", "bytes"],
            "properties": [
                "type": ["const": .string(Photo.type)], "width": ["type": "integer"], "height": ["type": "integer"],
                "bytes": ["type": "integer"],
            ],
        ]
    }

    package func rules(in language: Language) -> [JSON.Member] {
        [
            .init("types", .array(Self.types.map(JSON.string))), .init("max_bytes", .integer(Self.maximumBytes)),
            .init("max_pixels", .integer(ImageFile.maximumPixels)), .init("side", .integer(Photo.side)),
        ]
    }

    package var control: Control { Control(type: "file") }
    package var answerSchema: JSON { ["type": "null"] }
    package var isKeptUnlessReplaced: Bool { true }
    package var takesFile: Bool { true }
}
