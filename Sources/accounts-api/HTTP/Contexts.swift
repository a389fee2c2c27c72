import Accounts
import Hummingbird
import Logging
import Synchronization

/// The rest of the middleware chain with the handler, to which a middleware passes the request.
typealias Next = @concurrent (Request, RequestScope) async throws -> Response

/// The context of every request to the public listener. Each middleware stores in it what it finds out about the
/// request (``Findings``).
///
/// Swift copies the context into the frame of each middleware. So the findings are behind a reference, and are copied
/// when a middleware changes them.
@dynamicMemberLookup
struct RequestScope: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The draft and the step of the request, and the problem that answers it, for outer middleware. Outer middleware
    /// has a copy of this context, so it does not see later changes of the other properties.
    let subject = Subject()
    private var storage: Storage

    /// What the middleware has found out about a request.
    struct Findings: Sendable {
        /// The id of the request in the log and in the answer.
        var requestID = ""
        /// The language that the request asks for. The language of a draft takes precedence.
        var language = Language.english
        /// The language in the query or the cookie of a request for a page (``LanguageChoice``); nil if neither has
        /// one, and for other requests.
        var chosenLanguage: Language?
        /// The representation that the request prefers.
        var representation = Representation.json
        /// The peer of the connection; nil if it has no IP address.
        let peer: IPAddress?
        /// The network of the client, by which rate limits count.
        var network = Network.unknown
        var credentials = TokenCookie.Credentials()
        var step: Step?
        var answers = Answers()
        var draft: Draft?
        var session: AccountSession?
        /// A form with files, whose body ``Uploads`` reads later; nil if the body is of another type.
        var formWithFiles: FormWithFiles?
        var field: Field?
    }

    /// The findings in memory of their own. Only ``RequestScope`` uses it, and changes it only if no copy of the
    /// context shares it.
    private final class Storage: Sendable {
        nonisolated(unsafe) var findings: Findings

        init(_ findings: Findings) { self.findings = findings }
    }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        storage = Storage(Findings(peer: source.channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }))
    }

    subscript<Value>(dynamicMember member: KeyPath<Findings, Value>) -> Value {
        storage.findings[keyPath: member]
    }

    subscript<Value>(dynamicMember member: WritableKeyPath<Findings, Value>) -> Value {
        get { storage.findings[keyPath: member] }
        set {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.findings) }
            storage.findings[keyPath: member] = newValue
        }
    }
}

/// Passes the draft, the step and the problem to outer middleware. Each inner middleware gets a copy of the context,
/// but all copies share this object.
final class Subject: Sendable {
    struct Description {
        let id: ID<Draft>
        let language: Language
    }

    private struct State {
        var draft: Description?
        var step: StepName?
        var event: SecurityEvent?
        var problem: String?
        var hasNoPage = false
    }

    private let state = Mutex(State())

    var draft: Description? { state.withLock { $0.draft } }
    var step: StepName? { state.withLock { $0.step } }
    /// The refusal of the request if it may be a part of abuse; nil if there is no such refusal.
    var event: SecurityEvent? { state.withLock { $0.event } }

    /// The slug of the problem that answers the request, or the error code of OAuth; nil if there is none.
    var problem: String? { state.withLock { $0.problem } }

    /// Whether problems are JSON although the request prefers a page, because the route has no page.
    var hasNoPage: Bool { state.withLock { $0.hasNoPage } }

    func setNoPage() { state.withLock { $0.hasNoPage = true } }

    func set(_ draft: Draft) {
        let newDescription = Description(id: draft.id, language: draft.language)
        state.withLock { $0.draft = newDescription }
    }

    func set(_ step: Step) {
        let name = step.name
        state.withLock { $0.step = name }
    }

    /// Stores the problem that answers the request, for the request log.
    func set(_ problem: Problem) {
        let (event, slug) = (SecurityEvent(problem), problem.slug.rawValue)
        state.withLock { ($0.event, $0.problem) = (event, slug) }
    }

    /// Stores the error that answers the request of an application, for the request log.
    func set(_ error: OAuthError) {
        let (event, code) = (SecurityEvent(error), error.code)
        state.withLock { ($0.event, $0.problem) = (event, code) }
    }
}

/// The context of a request about a draft. A request without a draft never reaches a handler with this context.
struct DraftContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let draft: Draft
    let token: Token<Draft>
    /// Whether the token was in a cookie.
    let hasCookie: Bool
    let representation: Representation
    let network: Network
    let subject: Subject
    var language: Language { draft.language }

    init(context: RequestScope) throws {
        guard let draft = context.draft, let token = context.credentials.token(of: Draft.self) else {
            throw Problem.noDraft(in: .signup)
        }
        coreContext = context.coreContext
        self.token = token
        hasCookie = context.credentials.hasCookie
        subject = context.subject
        network = context.network
        representation = context.representation
        self.draft = draft
    }
}

/// The context of a request about one step of the draft.
struct StepContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let draft: Draft
    let representation: Representation
    let step: Step
    let network: Network
    /// The answers in the body; empty if there is no body, or if it is not read yet.
    var answers: Answers
    /// A form with files, whose body is not read yet; nil if the body is of another type.
    let formWithFiles: FormWithFiles?
    let subject: Subject
    var language: Language { draft.language }

    init(context: RequestScope) throws {
        guard let draft = context.draft else { throw Problem.noDraft(in: .signup) }
        guard let step = context.step else { throw Problem.unknownStep }
        coreContext = context.coreContext
        subject = context.subject
        network = context.network
        representation = context.representation
        self.draft = draft
        self.step = step
        answers = context.answers
        formWithFiles = context.formWithFiles
    }
}

/// The context of a request about one image field of a step.
struct FieldContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let draft: Draft
    let representation: Representation
    let step: Step
    let field: Field
    let network: Network
    var language: Language { draft.language }

    init(context: RequestScope) throws {
        guard let draft = context.draft else { throw Problem.noDraft(in: .signup) }
        guard let step = context.step, let field = context.field else { throw Problem.noImageField }
        coreContext = context.coreContext
        representation = context.representation
        self.draft = draft
        self.step = step
        self.field = field
        network = context.network
    }
}
