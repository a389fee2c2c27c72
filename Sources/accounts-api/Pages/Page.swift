import Accounts
import HTTPTypes

/// What a template is to draw, and how it is sent.
struct Page {
    let template: Template
    let title: String
    var status: HTTPResponse.Status = .ok
    var headers: HTTPFields = [:]
    /// A sentence above everything else, about what went wrong or has ended.
    var notice: String?
    var members: [JSON.Member] = []

    /// The templates of pages; the file of each has its name.
    enum Template: String, CaseIterable {
        case start, step, codes, review, done, cancel, resume, message, problems
    }
}
