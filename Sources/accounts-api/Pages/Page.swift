import Accounts
import HTTPTypes

/// The template and values of a page, and its status and headers.
struct Page {
    let template: Template
    let title: String
    var status: HTTPResponse.Status = .ok
    var headers: HTTPFields = [:]
    /// A sentence at the top of the page about an error, or about what has happened.
    var notice: String?
    /// Whether the notice tells no error.
    var isNews = false
    /// Whether search engines may list the page.
    var isPublic = false
    /// What search engines show of the page.
    var description: String?
    var members: [JSON.Member] = []
    /// Where a browser gets the page again after a form; nil for the page that sent the form.
    var address: String?
    /// The addresses of applications that a form of the page leads to. Browsers check each redirect after a form.
    var formTargets: [String] = []

    /// Whether the page shows something that the person cannot see again, such as a new recovery code.
    var isShownOnce = false

    /// Whether the page exists in all languages of the flow, and is still there after a switch.
    var hasLanguages: Bool { template != .problems && !isShownOnce }

    /// The templates of pages. The name of the file is the raw value.
    enum Template: String, CaseIterable {
        case start, step, codes, review, done, cancel, resume, ticket, message, problems, form, account, edit,
            authenticator, choice
    }
}
