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
    /// Whether the notice reports a result, and not an error.
    var isNews = false
    /// Whether search engines may list the page.
    var isPublic = false
    /// The description of the page that search engines show.
    var description: String?
    var members: [JSON.Member] = []
    /// For a page that answers a submitted form: the path and query at which a GET shows this page again. Nil if they
    /// are those of the page that contained the form.
    var address: String?
    /// The URLs outside this service to which the answer to a form of the page may redirect. Some browsers apply the
    /// directive `form-action` of the Content-Security-Policy to redirects, too. So this directive contains the origins
    /// of these URLs, or the schemes of apps.
    var formTargets: [String] = []

    /// Whether the page shows something that the person cannot see again, such as a new recovery code.
    var isShownOnce = false

    /// Whether the page can be shown again in another language of the flow.
    var hasLanguages: Bool { template != .problems && !isShownOnce }

    /// The templates of pages. The raw value is the name of the file without its extension.
    enum Template: String, CaseIterable {
        case start, step, codes, review, done, cancel, resume, ticket, message, problems, form, account, edit,
            authenticator, choice
    }
}
