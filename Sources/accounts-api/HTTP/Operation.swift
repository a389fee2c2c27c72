import Accounts
import HTTPTypes
import Hummingbird

/// One operation of the API. The router, the `Allow` header of each path and the OpenAPI description are made from the
/// table of operations.
struct Operation: Sendable {
    let method: HTTPRequest.Method
    /// The path; `:step` stands for the name of any of ``steps(of:)``, and `:field` for the name of any image field of
    /// that step.
    let path: String
    let act: Act
    /// The kind of body for each status that is not a problem.
    let responses: [HTTPResponse.Status: Shape]
    /// The flow whose steps `:step` stands for. The operation reads the token of a draft of this flow, unless it reads
    /// the token of a session (``readsSession``).
    let flow: FlowPurpose
    /// The parameters in the query.
    let query: [Parameter]
    let handler: Handler

    /// An act of a client, such as a commit, with its description. Each file with routes adds its acts in an extension.
    struct Act: Hashable, Sendable {
        /// The name in the OpenAPI description.
        let name: String
        let summary: String
        let query: [Parameter]
        let body: Body
        /// The problems of this act, in addition to those that ``Operation/problems`` derives from the operation.
        let problems: [Problem.Slug]
        /// Whether the act reads or writes encrypted data, although it needs neither a draft nor a session.
        let needsKeys: Bool
        /// The credentials that the act reads; nil for those of the handler (``Operation/credentials``).
        let credentials: Credentials?

        init(
            _ name: String,
            _ summary: String,
            query: [Parameter] = [],
            body: Body = .none,
            problems: [Problem.Slug] = [],
            needsKeys: Bool = false,
            credentials: Credentials? = nil
        ) {
            (self.name, self.summary, self.query, self.body) = (name, summary, query, body)
            (self.problems, self.needsKeys, self.credentials) = (problems, needsKeys, credentials)
        }
    }

    /// A parameter in the query or in the form of a request. A word that only selects a notice of a page, as in
    /// `/account?saved`, is not listed.
    struct Parameter: Hashable, Sendable, ExpressibleByStringLiteral {
        let name: String
        let isRequired: Bool

        private init(_ name: String, isRequired: Bool) {
            (self.name, self.isRequired) = (name, isRequired)
        }

        init(stringLiteral name: String) { self.init(name, isRequired: false) }

        static func required(_ name: String) -> Self { Self(name, isRequired: true) }
    }

    /// The credentials that an operation reads.
    enum Credentials: Hashable, Sendable {
        case nothing
        /// The token of a draft, a session or a sign-in (``Operation/readsSession``), in a cookie or as a bearer token.
        case token(isRequired: Bool)
        /// The access token of an application, as a bearer token.
        case accessToken
        /// The id and the secret of an application, by HTTP Basic. If they are not required, the form of the request
        /// may have them instead, without a secret if the application is public.
        case application(isRequired: Bool)
    }

    /// The kind of body of a response. The raw value is the name of its schema, if it has one.
    enum Shape: String, Sendable {
        case draft = "Draft"
        case step = "Step"
        case review = "Review"
        case account = "Commit"
        case check = "Check"
        case resend = "Resend"
        case handoff = "Handoff"
        case flow = "Flow"
        case health = "Health"
        case problems = "Problems"
        case problemType = "ProblemType"
        case signIn = "SignInState"
        case sessions = "Sessions"
        case accountOverview = "AccountOverview"
        case enrolment = "Enrolment"
        case change = "Change"
        case accountStep = "AccountStep"
        case export = "AccountExport"
        case editedAccount = "EditedAccount"
        case oauthError = "OAuthError"
        /// An HTML page.
        case page
        /// A JPEG image.
        case image
        case anything, nothing
    }

    /// The body of a request.
    enum Body: Hashable, Sendable {
        case none
        /// An object with the schema of this name.
        case members(String, isRequired: Bool = true, secretMembers: Set<String> = [])
        /// `answers`: the answers to a whole step. `someAnswers`: values for any fields of a step.
        case answers, someAnswers
        /// New values for a step that people may change in their account.
        case edits
        /// The form of a page. The OpenAPI description does not list its members.
        case form(secretMembers: Set<String>)
        /// A form with these parameters, which the handler reads. It ignores others, as OAuth requires (RFC 6749 §3.1).
        case parameters([Parameter])
        case image
    }

    /// The function that answers a request. The cases differ in the context that it gets, in the checks that run before
    /// it, and in the answer to a browser.
    enum Handler: Sendable {
        /// Needs no draft. It makes the whole response itself, for programs and for browsers.
        case plain(@Sendable (Request, RequestScope) async throws -> Response)
        /// For requests of an application, or of a browser that an application redirects to this service. Their origin
        /// is not checked. It reads the token of a session.
        case application(@Sendable (Request, RequestScope) async throws -> Response)
        /// Needs no draft. A browser gets a page or a redirect in place of the ``Answer``.
        case open(@Sendable (Request, RequestScope) async throws -> Answer)
        /// Needs no session, but reads the token of a session or of a sign-in that waits for a second factor or a
        /// mailed code.
        case signIn(@Sendable (Request, RequestScope) async throws -> Answer)
        /// Answers browsers only, with a page or a redirect. It reads the same token as ``signIn``.
        case signInPage(@Sendable (Request, RequestScope) async throws -> Response)
        case session(@Sendable (Request, SessionContext) async throws -> Answer)
        case draft(@Sendable (Request, DraftContext) async throws -> Answer)
        case step(@Sendable (Request, StepContext) async throws -> Answer)
        case field(@Sendable (Request, FieldContext) async throws -> Response)
    }

    /// - Parameter query: the parameters in the query; nil for those of the act.
    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ act: Act,
        query: [Parameter]? = nil,
        responses: [HTTPResponse.Status: Shape],
        of flow: FlowPurpose = .signup,
        _ handler: Handler
    ) {
        self.method = method
        self.path = path
        self.act = act
        self.responses = responses
        self.flow = flow
        self.query = query ?? act.query
        self.handler = handler
    }

    var needsStep: Bool { path.contains(":step") }
    /// The steps that `:step` stands for.
    func steps(of flow: Flow) -> [Step] { needsSession ? flow.editableSteps : flow.steps }
    var needsField: Bool { path.contains(":field") }
    var needsDraft: Bool {
        switch handler {
        case .plain, .application, .open, .signIn, .signInPage, .session: false
        case .draft, .step, .field: true
        }
    }
    var needsSession: Bool { if case .session = handler { true } else { false } }
    /// Whether the operation reads the token of a session or a sign-in. False if it reads that of a draft, or none.
    var readsSession: Bool {
        switch handler {
        case .application, .signIn, .signInPage, .session: true
        case .plain, .open, .draft, .step, .field: false
        }
    }
    /// The credentials that the operation reads.
    var credentials: Credentials {
        if let credentials = act.credentials { return credentials }
        switch handler {
        case .plain, .application, .open: return .nothing
        case .signIn: return .token(isRequired: act.problems.contains(.noSession))
        case .signInPage: return .token(isRequired: false)
        case .session, .draft, .step, .field: return .token(isRequired: true)
        }
    }
    /// Whether ``OriginCheck`` checks the request. It refuses a state-changing request that another website has caused.
    var checksOrigin: Bool { if case .application = handler { false } else { !act.isHealth } }
    /// Whether the operation reads or writes encrypted data.
    var needsKeys: Bool { needsDraft || needsSession || act.needsKeys }
    /// Whether a browser may get a page or a redirect instead of JSON.
    var hasPages: Bool {
        switch handler {
        case .plain, .application, .signIn: false
        case .session:
            [
                .showAccount, .showAccountStep, .editAccountStepForm, .removeAccountPhotoForm, .exportAccount,
            ].contains(act)
        case .signInPage: true
        case .open, .draft, .step: act != .check
        case .field: act == .removePhotoForm
        }
    }
    /// Whether a browser may be redirected to another page without a 303 in ``responses``.
    var redirects: Bool {
        hasPages && act != .listProblems && act != .showProblem && responses[.seeOther] == nil
    }
    /// Whether ``Negotiation`` refuses a request whose `Accept` does not fit. Operations with a page in ``responses``
    /// are not negotiated. Operations with the handler ``Handler/application(_:)``, the check of a session for a proxy,
    /// health checks and photos are not negotiated either, because they have only one representation.
    var isNegotiated: Bool {
        if case .application = handler { return false }
        return !act.isHealth && !responses.values.contains(.page) && act != .showPhoto && act != .showAccountPhoto
            && act != .checkSession
    }
    /// The methods that the operation answers: GET includes HEAD.
    var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }
}

extension Operation.Act {
    var isHealth: Bool { self == .live || self == .ready }
}

extension Operation {
    /// The problems that the operation may answer with, without those about the length of the URI and of the header.
    var problems: [Problem.Slug] {
        var all: [Problem.Slug] = [.internal, .unavailable]
        if act.isHealth { return all + act.problems }
        all.append(.malformedRequest)
        if act != .checkSession { all.append(.rateLimited) }
        if isNegotiated { all.append(.notAcceptable) }
        if method != .get, checksOrigin { all.append(.forbiddenOrigin) }
        if needsDraft { all += [.noDraft, .draftExpired] }
        if needsSession { all.append(.noSession) }
        if act == .commit, flow == .emailChange { all.append(.confirmationRequired) }
        if act.body != .none { all += [.tooLarge, .unsupportedMediaType] }
        return all + act.problems.filter { !all.contains($0) }
    }
}
