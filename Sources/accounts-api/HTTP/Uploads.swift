import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// A body that may be large: a form with files, or one image. Before it is read, its header is looked at, its draft is
/// found, and the step is open: whoever may not send it has not sent much.
enum Upload: Sendable {
    case form(boundary: String)
    case image

    /// Of the body; a form has room for all of its files, and for the texts beside them.
    func mostBytes(at step: Step?) -> Int {
        switch self {
        case .form: (step?.images.count ?? 0) * ImageField.mostBytes + BodyReader.mostBytes
        case .image: ImageField.mostBytes
        }
    }
}

extension Step {
    /// The fields that ask for a picture.
    var images: [Field] { fields.filter(\.kind.takesFile) }
}

extension Upload {
    static let formType = "multipart/form-data"

    /// Of a form with files; nil for every other type, and without a boundary (RFC 2046 §5.1.1).
    init?(form contentType: String?) {
        guard let parts = contentType?.split(separator: ";").map({ $0.trimmingWhitespace() }),
            parts.first?.lowercased() == Self.formType,
            let parameter = parts.first(where: { $0.lowercased().hasPrefix("boundary=") })
        else { return nil }
        var boundary = parameter.dropFirst("boundary=".count)
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
        } else if context.step?.images.isEmpty == false {
            context.upload = Upload(form: type)
        }
        // Of a page it is told when the page can be shown.
        if let most = context.upload?.mostBytes(at: context.step), let length = request.bodyLength, length > most,
            context.representation == .json
        {
            throw BodyReader.tooLarge(most)
        }
        return try await next(request, context)
    }
}

/// The uploads in memory, of which there are only so many at once.
struct Uploads: Sendable {
    let secretMembers: Set<String>
    /// A client that sends many at once is told to wait, so that other clients do not wait for all of its uploads.
    private let all = ConcurrencyLimiter(perClient: 4)
    /// For uploads that are larger than other bodies: each needs about 10 MiB of memory while it is read.
    private let large = ConcurrencyLimiter(8, perClient: 2)

    init(secretMembers: Set<String>) {
        self.secretMembers = secretMembers
    }

    /// Holds a slot for the upload while `body` runs.
    func withSlot<Value>(
        for request: Request,
        from client: Network,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let isLarge = request.bodyLength.map { $0 > BodyReader.mostBytes } ?? true
        guard all.acquire(for: client) else { throw Self.busy }
        defer { all.release(of: client) }
        guard !isLarge || large.acquire(for: client) else { throw Self.busy }
        defer { if isLarge { large.release(of: client) } }
        return try await body()
    }

    private static let busy = Problem(
        .busy,
        "Too many images come at once. Try again in a moment.",
        headers: [.retryAfter: "2"]
    )

    /// The body itself is gone when these return.
    func image(in request: Request) async throws -> UploadedFile {
        let body = try await read(request, most: ImageField.mostBytes)
        return body.withBytes { UploadedFile(Array($0)) }
    }

    func answers(in request: Request, boundary: String, to step: Step) async throws -> JSON {
        let body = try await read(request, most: Upload.form(boundary: boundary).mostBytes(at: step))
        do throws(MalformedBody) {
            let form = try body.withBytes { (bytes) throws(MalformedBody) in
                try JSON.readMultipart(
                    bytes,
                    boundary: boundary,
                    secretMembers: secretMembers,
                    several: step.severalFields,
                    mostValues: BodyReader.mostValues
                )
            }
            return step.answers(inForm: form)
        } catch {
            throw Problem(.malformedRequest, "\(error)")
        }
    }

    private func read(_ request: Request, most: Int) async throws -> GrowingSecret {
        if let length = request.bodyLength, length > most { throw BodyReader.tooLarge(most) }
        return try await BodyReader.read(request.body, of: request.bodyLength, most: most)
    }
}

/// Finds the image field that the path names.
struct FieldFinder: RouterMiddleware {
    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard let name = context.parameters.get("field"), let field = context.step?.field(named: FieldName(name)),
            field.kind.takesFile
        else { throw Problem(.notFound, "The step has no such image.") }
        var context = context
        context.field = field
        return try await next(request, context)
    }
}
