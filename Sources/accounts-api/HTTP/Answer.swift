import Accounts
import HTTPTypes
import Hummingbird
import NIOCore

/// The answer to a request, before it is written as JSON for programs or as a page for a browser.
struct Answer: Sendable {
    /// Nil if the answer has no body.
    var json: JSON?
    var status: HTTPResponse.Status = .ok
    var headers: HTTPFields = [:]

    /// The answer as JSON, for programs.
    var response: Response {
        var response = Response(status: status)
        if let json {
            let body = ByteBuffer(bytes: json.bytes)
            response.headers[.contentType] = "application/json; charset=utf-8"
            response.headers[.contentLength] = "\(body.readableBytes)"
            response.body = ResponseBody(byteBuffer: body)
        }
        for field in headers { response.headers[field.name] = field.value }
        return response
    }

    /// The answer with the entity tag of the draft's revision.
    func tagged(_ draft: Draft) -> Answer {
        var answer = self
        answer.headers[.eTag] = "\"\(draft.revision)\""
        return answer
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

    /// The answer to a client that gets a token with the draft: in the body if it asked for a bearer token, otherwise
    /// in a cookie.
    func answer(
        _ draft: Draft,
        with token: Token,
        isBearer: Bool,
        session: Session,
        status: HTTPResponse.Status
    ) -> Answer {
        var answer = Answer(json: self.draft(draft, token: isBearer ? token : nil), status: status).tagged(draft)
        if !isBearer { answer.headers[.setCookie] = session.setCookie(token) }
        return answer
    }
}
