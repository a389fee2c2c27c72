import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// The answer to a request, before it is written as JSON for programs or as a page for a browser.
struct Answer: Sendable {
    /// The body as JSON; nil if the body is an image or absent.
    var json: JSON?
    /// The bytes of an image as the body; nil if the body is JSON or absent.
    var image: [UInt8]?
    var status: HTTPResponse.Status = .ok
    var headers: HTTPFields = [:]

    /// The HTTP response for programs. Its body is the JSON or the image.
    var response: Response {
        var response = Response(status: status)
        if let json {
            let body = ByteBuffer(bytes: json.bytes)
            response.headers[.contentType] = "application/json; charset=utf-8"
            response.headers[.contentLength] = "\(body.readableBytes)"
            response.body = ResponseBody(byteBuffer: body)
        }
        if let image { response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: image)) }
        response.headers.add(headers)
        return response
    }

    /// Removes a member of the JSON.
    mutating func remove(_ name: String) {
        guard case .object(let members)? = json else { return }
        json = .object(members.filter { $0.name != name })
    }

    init(json: JSON? = nil, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) {
        (self.json, self.status, self.headers) = (json, status, headers)
    }

    init(image: [UInt8], type: String) {
        self.image = image
        headers = [.contentType: type, .contentLength: "\(image.count)", .contentDisposition: "inline"]
    }

    /// Returns the answer with an `ETag`: the revision of the draft in quotation marks.
    func tagged(_ draft: Draft) -> Answer {
        var answer = self
        answer.headers[.eTag] = "\"\(draft.revision)\""
        return answer
    }
}

extension HTTPFields {
    /// Adds the fields. A field replaces an existing field of the same name. Only `Set-Cookie` is appended, because an
    /// answer may set several cookies.
    ///
    /// In forward authentication, the answer to the proxy has a field `Cookie`. It stays one field: the plain subscript
    /// would split it into one field for each cookie.
    mutating func add(_ fields: HTTPFields) {
        for field in fields {
            if field.name == .setCookie { append(field) } else { self[values: field.name] = [field.value] }
        }
    }
}

extension Representations {
    func answer(
        _ draft: Draft,
        cleared: [FieldName] = [],
        recoveryCodes: [RecoveryCode] = [],
        account: Account? = nil
    ) -> Answer {
        Answer(json: self.draft(draft, cleared: cleared, recoveryCodes: recoveryCodes, account: account)).tagged(draft)
    }

    /// Returns the answer to a client that gets a token with the draft. The token is in the body if the client asked
    /// for a bearer token, otherwise in a cookie.
    func answer(
        _ draft: Draft,
        with token: Token<Draft>,
        isBearer: Bool,
        cookie: TokenCookie,
        status: HTTPResponse.Status
    ) -> Answer {
        var answer = Answer(json: self.draft(draft, token: isBearer ? token : nil), status: status).tagged(draft)
        if !isBearer { answer.headers.append(cookie.set(token.text, for: signups.remainingLife(of: draft))) }
        return answer
    }
}
