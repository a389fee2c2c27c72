import Accounts
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// A body that may be large: a form with files, or one image. Before it is read, its header is looked at and its draft is
/// found, so that nobody sends much who may not.
enum Upload: Sendable {
    case form(boundary: String)
    case image

    /// Of the body; a form has room for the texts beside its file.
    var mostBytes: Int {
        switch self {
        case .form: ImageField.mostBytes + BodyReader.mostBytes
        case .image: ImageField.mostBytes
        }
    }
}

extension Upload {
    static let formType = "multipart/form-data"

    /// Of a form with files; nil for every other type, and without a boundary (RFC 2046 §5.1.1).
    init?(form contentType: String?) {
        guard let parts = contentType?.split(separator: ";").map({ $0.trimmingWhitespace() }),
            parts.first?.lowercased() == Self.formType, parts.count == 2,
            parts[1].lowercased().hasPrefix("boundary=")
        else { return nil }
        var boundary = parts[1].dropFirst("boundary=".count)
        if boundary.hasPrefix("\""), boundary.hasSuffix("\""), boundary.utf8.count > 1 {
            boundary = boundary.dropFirst().dropLast()
        }
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        self = .form(boundary: String(boundary))
    }

    /// Of an image by itself. Which kind it is, its bytes tell.
    init?(image contentType: String?) {
        guard let contentType, contentType.lowercased().hasPrefix("image/") else { return nil }
        self = .image
    }
}

/// Looks at the header of what may be an upload.
struct UploadDoor: RouterMiddleware {
    /// True where nothing but an image can come.
    let isForImages: Bool

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var context = context
        let type = request.headers[.contentType]
        if isForImages {
            context.upload = Upload(image: type)
            guard context.upload != nil else {
                throw Problem(
                    .unsupportedMediaType,
                    "Send an image.",
                    headers: [.accept: ImageField.types.joined(separator: ", ")]
                )
            }
        } else if context.step?.fields.contains(where: { $0.kind is ImageField }) == true {
            context.upload = Upload(form: type)
        }
        if let upload = context.upload, let length = request.headers[.contentLength].flatMap({ Int($0) }),
            length > upload.mostBytes
        {
            throw BodyReader.tooLarge(upload.mostBytes)
        }
        return try await next(request, context)
    }
}

/// Reads an upload into memory, of which there are only so many at once.
struct UploadReader: RouterMiddleware {
    let places: Places
    let secretMembers: Set<String>

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard let upload = context.upload else { return try await next(request, context) }
        guard places.take(for: context.network) else {
            throw Problem(.busy, "Too many images come at once. Try again in a moment.", headers: [.retryAfter: "2"])
        }
        defer { places.giveBack(of: context.network) }
        var context = context
        try await read(request.body, as: upload, into: &context)
        return try await next(request, context)
    }

    /// The body itself is gone when this returns.
    private func read(_ body: RequestBody, as upload: Upload, into context: inout RequestScope) async throws {
        let secret = try await BodyReader.read(body, most: upload.mostBytes)
        do throws(MalformedBody) {
            switch upload {
            case .image: context.image = secret.withBytes { UploadedFile(Array($0)) }
            case .form(let boundary):
                let form = try secret.withBytes { (bytes) throws(MalformedBody) in
                    try JSON.readMultipart(
                        bytes,
                        boundary: boundary,
                        secretMembers: secretMembers,
                        several: context.step?.severalFields ?? [],
                        mostValues: BodyReader.mostValues
                    )
                }
                context.answers = context.step?.answers(inForm: form) ?? form
            }
        } catch {
            throw Problem(.malformedRequest, "\(error)")
        }
    }
}

/// How many of something there are at once, and how many of one client network.
final class Places: Sendable {
    private let most, mostOfClient: Int
    private let taken = Mutex<(all: Int, byClient: [Network: Int])>((0, [:]))

    init(_ most: Int = .max, ofClient mostOfClient: Int) {
        (self.most, self.mostOfClient) = (most, mostOfClient)
    }

    /// False where there is none left. Each that was taken is given back.
    func take(for client: Network) -> Bool {
        taken.withLock { taken in
            guard taken.all < most, taken.byClient[client, default: 0] < mostOfClient else { return false }
            taken.all += 1
            taken.byClient[client, default: 0] += 1
            return true
        }
    }

    func giveBack(of client: Network) {
        taken.withLock { taken in
            guard let count = taken.byClient[client] else { return }
            taken.all -= 1
            taken.byClient[client] = count > 1 ? count - 1 : nil
        }
    }
}

/// Finds the image field that the path names.
struct FieldFinder: RouterMiddleware {
    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard let name = context.parameters.get("field"), let field = context.step?.field(named: FieldName(name)),
            field.kind is ImageField
        else { throw Problem(.notFound, "The step has no such image.") }
        var context = context
        context.field = field
        return try await next(request, context)
    }
}
