import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// Reads large bodies, namely images and forms with files, and limits how many are in memory at once.
struct Uploads: Sendable {
    let signups: Signups
    /// Limits the uploads of each client. A further upload is refused as `busy`, so that one client does not delay the
    /// others.
    private let all = ConcurrencyLimiter(perClient: 4)
    /// Limits the uploads whose length is unknown or above ``BodyReader/maximumBytes``, because each needs about 10 MiB
    /// of memory for an image while it is read. A /48 of IPv6 may be one client, so it gets at most half of the slots.
    private let large = ConcurrencyLimiter(8, perClient: 2, perBlock: 4)

    init(signups: Signups) {
        self.signups = signups
    }

    /// Reads the image, and holds a slot until `store` has returned. Throws before it reads if the step cannot be
    /// written.
    func withImage<Value>(
        of request: Request,
        _ context: FieldContext,
        store: (UploadedFile) async throws -> Value
    ) async throws -> Value {
        if let obstacle = signups.obstacle(to: context.step, of: context.draft) { throw obstacle }
        return try await withSlot(for: request, from: context.network) {
            try await store(image(in: request))
        }
    }

    /// Reads the form into the answers of the context, and holds a slot until `handle` has returned. Throws before it
    /// reads if the step cannot be written.
    func withAnswers<Value>(
        in form: FormWithFiles,
        of request: Request,
        _ context: StepContext,
        handle: (StepContext) async throws -> Value
    ) async throws -> Value {
        if let obstacle = signups.obstacle(to: context.step, of: context.draft) { throw obstacle }
        return try await withSlot(for: request, from: context.network) {
            var context = context
            context.answers = try await answers(in: form, of: request, to: context.step, for: context.representation)
            return try await handle(context)
        }
    }

    /// Like ``withAnswers(in:of:_:handle:)``, for a request about the account of a session, without a check of the
    /// step. If the body is not a form with files, calls `handle` at once, because ``BodyReader`` has read the body.
    func withAnswers<Value>(
        of request: Request,
        _ context: SessionContext,
        handle: (SessionContext) async throws -> Value
    ) async throws -> Value {
        guard let form = context.formWithFiles, let step = context.step else { return try await handle(context) }
        return try await withSlot(for: request, from: context.network) {
            var context = context
            context.answers = try await answers(in: form, of: request, to: step, for: context.representation)
            return try await handle(context)
        }
    }

    /// Like ``withAnswers(in:of:_:handle:)``, for the form of the first step, which starts a draft. Does not check the
    /// step.
    func withAnswers<Value>(
        in form: FormWithFiles,
        of request: Request,
        to step: Step,
        _ context: RequestScope,
        handle: (Answers) async throws -> Value
    ) async throws -> Value {
        try await withSlot(for: request, from: context.network) {
            try await handle(answers(in: form, of: request, to: step, for: context.representation))
        }
    }

    /// Reads the form. If it is too large, a browser gets a refusal of each image field, so that the page shows the
    /// form again.
    private func answers(
        in form: FormWithFiles,
        of request: Request,
        to step: Step,
        for representation: Representation
    ) async throws -> Answers {
        do {
            return try await answers(in: form, of: request, to: step)
        } catch let problem as Problem where problem.slug == .tooLarge && representation == .page {
            throw SubmitError.refused(step.images.map { .tooLarge($0.name) })
        }
    }

    /// Holds a slot for the upload while `body` runs.
    private func withSlot<Value>(
        for request: Request,
        from client: Network,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let isLarge = request.bodyLength.map { $0 > BodyReader.maximumBytes } ?? true
        guard all.acquire(for: client) else { throw Self.busy }
        defer { all.release(of: client) }
        guard !isLarge || large.acquire(for: client) else { throw Self.busy }
        defer { if isLarge { large.release(of: client) } }
        return try await body()
    }

    private static let busy = Problem(
        .busy,
        "Too many images are being uploaded. Try again in a moment.",
        headers: [.retryAfter: "2"]
    )

    /// Reads the image. The memory of the body is released before this returns.
    private func image(in request: Request) async throws -> UploadedFile {
        let body = try await read(request, upTo: ImageField.maximumBytes)
        return body.withBytes { UploadedFile(Array($0)) }
    }

    /// Reads the answers. The memory of the body is released before this returns.
    private func answers(in form: FormWithFiles, of request: Request, to step: Step) async throws -> Answers {
        let body = try await read(request, upTo: form.maximumBytes)
        let values = try body.withBytes { (bytes) throws(MalformedBody) in
            try Answers.readMultipart(
                bytes,
                boundary: form.boundary,
                secretNames: signups.flow.secretMembers,
                repeatableNames: step.repeatableNames,
                maximumParts: BodyReader.maximumValues
            )
        }
        return step.answers(inForm: values)
    }

    private func read(_ request: Request, upTo maximum: Int) async throws -> GrowingSecret {
        if let length = request.bodyLength, length > maximum { throw BodyReader.tooLarge(maximum) }
        return try await BodyReader.read(request.body, of: request.bodyLength, upTo: maximum)
    }
}
