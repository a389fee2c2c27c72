import Accounts
import HTTPTypes
import Hummingbird

/// One operation of the API. The table of operations makes the router, the `Allow` header of each path, and the OpenAPI
/// description.
struct Operation: Sendable {
    let method: HTTPRequest.Method
    /// The path; `:step` stands for the name of any step of the flow, and `:field` for any image field of that step.
    let path: String
    let act: Act
    /// The schema of the body for each status of success.
    let responses: [HTTPResponse.Status: Shape]
    let handler: Handler

    /// The act of an operation, and its name in the OpenAPI description.
    enum Act: String, Sendable {
        case start, show, cancel, askToCancel, cancelForm, schema, review, commit, showStep, submit, submitForm, clear,
            check, resend, showPhoto, putPhoto, removePhoto, removePhotoForm, handOff, askToResume, resume, askToRedeem,
            redeem, openAPI, live
        case ready, listProblems, showProblem
    }

    /// The body of a successful answer: the name of its schema.
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
        /// HTML.
        case page
        /// JPEG.
        case image
        case anything, nothing
    }

    enum Body: Sendable {
        case none, start, resume, redeem, answers, someAnswers, image
    }

    /// A handler, by the context that it needs.
    enum Handler: Sendable {
        /// Needs no draft. It makes the whole response itself, for programs and browsers.
        case plain(@Sendable (Request, RequestScope) async throws -> Response)
        /// Needs no draft.
        case open(@Sendable (Request, RequestScope) async throws -> Answer)
        case draft(@Sendable (Request, DraftContext) async throws -> Answer)
        case step(@Sendable (Request, StepContext) async throws -> Answer)
        case field(@Sendable (Request, FieldContext) async throws -> Response)
    }

    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ act: Act,
        responses: [HTTPResponse.Status: Shape],
        _ handler: Handler
    ) {
        self.method = method
        self.path = path
        self.act = act
        self.responses = responses
        self.handler = handler
    }

    var needsStep: Bool { path.contains(":step") }
    var needsField: Bool { path.contains(":field") }
    var needsDraft: Bool {
        switch handler {
        case .plain, .open: false
        case .draft, .step, .field: true
        }
    }
    /// Whether the operation reads or writes encrypted data.
    var needsKeys: Bool { needsDraft || [.start, .askToResume, .resume, .askToRedeem, .redeem].contains(act) }
    /// Whether a browser gets a page instead of JSON.
    var hasPages: Bool {
        switch handler {
        case .plain: false
        case .open, .draft, .step: act != .check
        case .field: act == .removePhotoForm
        }
    }
    /// Whether a browser may be redirected to another page.
    var redirects: Bool { hasPages && act != .listProblems && act != .showProblem }
    /// Whether a request is refused if `Accept` does not fit. Health checks, pages and photos have only one
    /// representation.
    var isNegotiated: Bool { !act.isHealth && !responses.values.contains(.page) && act != .showPhoto }
    /// The methods that the operation answers.
    var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }
}

extension Operation.Act {
    var summary: String {
        switch self {
        case .start: "Starts a sign-up, or continues the open one of the token"
        case .show: "Returns the state of the sign-up, with the account after the commit"
        case .cancel: "Cancels the sign-up and deletes its values immediately"
        case .askToCancel: "Shows a page that asks whether to cancel the sign-up; changes nothing"
        case .cancelForm: "The same as DELETE /signup, for HTML forms"
        case .schema: "Returns the steps and fields of the flow, in the language of Accept-Language"
        case .review: "Returns all values, and the names of the missing fields"
        case .commit: "Creates the account; a repeated request returns the same account"
        case .showStep: "Returns the fields of a step, with their rules and values"
        case .submit: "Replaces the answers of a step"
        case .submitForm: "The same as PUT, for HTML forms"
        case .clear: "Deletes the answers of a step"
        case .check: "Validates the fields in the body, and stores nothing"
        case .resend: "Mails a new code, and invalidates the previous one"
        case .showPhoto: "Returns the photo in an image field"
        case .putPhoto: "Stores a photo made from an image; the other fields of the step do not change"
        case .removePhoto: "Deletes the photo"
        case .removePhotoForm: "The same as DELETE, for HTML forms"
        case .handOff: "Mails a link that continues the sign-up on another device"
        case .askToResume: "Shows a page that asks whether to continue on this device; the link stays valid"
        case .resume: "Moves the sign-up to this device; the token of the previous device becomes invalid"
        case .askToRedeem: "Shows a page that asks whether to mail another code; the link in the mail stays valid"
        case .redeem: "Exchanges the ticket in a mail for a sign-up with its address, and mails another code"
        case .openAPI: "Returns this description"
        case .live: "Succeeds if the process answers"
        case .ready: "Succeeds if the service can process requests"
        case .listProblems: "Returns every problem type and field code, with its meaning and remedy"
        case .showProblem: "Returns the meaning and the remedy of one problem type"
        }
    }

    var body: Operation.Body {
        switch self {
        case .start: .start
        case .resume: .resume
        case .redeem: .redeem
        case .submit, .submitForm: .answers
        case .check: .someAnswers
        case .putPhoto: .image
        default: .none
        }
    }

    var isHealth: Bool { self == .live || self == .ready }

    /// The problems of this act, in addition to those of every request.
    var problems: [Problem.Slug] {
        switch self {
        case .start, .resume, .redeem: [.validationFailed, .rateLimited]
        case .handOff: [.stepLocked, .alreadyCommitted, .staleRevision, .rateLimited, .notFound]
        case .askToResume, .askToRedeem, .showProblem: [.notFound]
        case .show, .schema, .openAPI, .live, .ready, .listProblems: []
        case .review, .askToCancel: [.alreadyCommitted]
        case .cancel, .cancelForm: [.alreadyCommitted, .staleRevision]
        case .commit: [.incomplete, .identifierTaken, .staleRevision, .rateLimited]
        case .showStep: [.stepLocked, .alreadyCommitted]
        case .submit, .submitForm, .clear:
            [.stepLocked, .alreadyCommitted, .staleRevision, .validationFailed, .rateLimited, .busy]
        case .check: [.stepLocked, .alreadyCommitted, .rateLimited, .busy]
        case .showPhoto: [.alreadyCommitted, .notFound]
        case .putPhoto:
            [.stepLocked, .alreadyCommitted, .staleRevision, .validationFailed, .rateLimited, .busy, .notFound]
        case .removePhoto, .removePhotoForm:
            [.stepLocked, .alreadyCommitted, .staleRevision, .rateLimited, .notFound]
        case .resend: [.stepLocked, .alreadyCommitted, .staleRevision, .validationFailed, .rateLimited, .notFound]
        }
    }
}

extension Operation {
    /// All problems that the operation may answer with.
    var problems: [Problem.Slug] {
        var all: [Problem.Slug] = [.internal, .unavailable]
        if act.isHealth { return all + act.problems }
        all.append(.malformedRequest)
        if isNegotiated { all.append(.notAcceptable) }
        if method != .get { all.append(.forbiddenOrigin) }
        if needsDraft { all += [.noDraft, .draftExpired] }
        if act.body != .none { all += [.tooLarge, .unsupportedMediaType] }
        return all + act.problems
    }
}
