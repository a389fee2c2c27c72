import Accounts
import Hummingbird
import Logging
import Synchronization

/// What a middleware hands the request on to.
typealias Next = @concurrent (Request, RequestScope) async throws -> Response

/// What is known of every request.
struct RequestScope: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The language that the request asks for; a draft's own comes first.
    var language: Language
    /// How the request wants to be answered.
    var representation = Representation.json
    /// Who is at the other end of the connection; nil where that is no IP address.
    let peer: IPAddress?
    /// Where the client comes from, as far as limits are concerned.
    var network = Network.unknown
    /// Whose draft it is about, once that is known; for the line in the log, which is written further out.
    let subject = Subject()
    /// Set on the way in, by the middleware that found each.
    var credentials = Session.Credentials()
    var step: Step?
    var answers: JSON = .object([])
    var draft: Draft?
    /// A body that is read once the draft is found.
    var upload: Upload?
    var field: Field?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        language = .english
        peer = source.channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    }
}

final class Subject: Sendable {
    private let id = Mutex<ID<Draft>?>(nil)

    var draft: ID<Draft>? { id.withLock { $0 } }

    func becomes(_ draft: ID<Draft>) {
        id.withLock { $0 = draft }
    }
}

/// A request of somebody who holds a draft: a handler that asks for it cannot be reached without one.
struct DraftContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let draft: Draft
    let representation: Representation
    let network: Network
    var language: Language { draft.language }

    init(context: RequestScope) throws {
        guard let draft = context.draft else { throw Problem.noDraft }
        coreContext = context.coreContext
        network = context.network
        representation = context.representation
        self.draft = draft
    }
}

/// The same, at one step of the flow.
struct StepContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let draft: Draft
    let representation: Representation
    let step: Step
    let network: Network
    /// The body as it was read; an empty object where there was none.
    var answers: JSON
    /// A body that is still to be read.
    let upload: Upload?
    var language: Language { draft.language }

    init(context: RequestScope) throws {
        guard let draft = context.draft else { throw Problem.noDraft }
        guard let step = context.step else { throw Problem(.unknownStep, "The flow has no such step.") }
        coreContext = context.coreContext
        network = context.network
        representation = context.representation
        self.draft = draft
        self.step = step
        answers = context.answers
        upload = context.upload
    }
}

/// The same, at one image field of the step.
struct FieldContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let draft: Draft
    let representation: Representation
    let step: Step
    let field: Field
    let network: Network
    var language: Language { draft.language }

    init(context: RequestScope) throws {
        guard let draft = context.draft else { throw Problem.noDraft }
        guard let step = context.step, let field = context.field else {
            throw Problem(.notFound, "The step has no such image.")
        }
        coreContext = context.coreContext
        representation = context.representation
        self.draft = draft
        self.step = step
        self.field = field
        network = context.network
    }
}
