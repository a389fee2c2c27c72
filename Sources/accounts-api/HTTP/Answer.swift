import Accounts
import HTTPTypes
import Hummingbird

/// What a request is answered, before it is written as JSON for programs or as a page for a browser.
struct Answer: Sendable {
    /// Nil where there is nothing to say.
    var json: JSON?
    var status: HTTPResponse.Status = .ok
    var headers: HTTPFields = [:]

    /// As programs get it.
    var response: Response {
        var response = json.map { Response(json: $0, status: status) } ?? Response(status: status)
        for field in headers { response.headers[field.name] = field.value }
        return response
    }
}
