import Accounts
import Hummingbird

/// Asks whether to go on with the sign-up on this device, without any script: the form posts what the link carries. Its
/// referrer policy lets a browser say with the form which origin it comes from, but not the path, which has the link.
struct ResumePage {
    let link: Token
    let serviceName: String
    let language: Language

    var response: Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/html; charset=utf-8", .contentLanguage: language.rawValue],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
    }

    private var html: String {
        let words = language.messages.resume(serviceName: serviceName)
        return """
            <!doctype html>
            <html lang="\(language.rawValue)">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <meta name="referrer" content="strict-origin">
            <title>\(words.title.escaped)</title>
            <h1>\(words.title.escaped)</h1>
            <p>\(words.text.escaped)</p>
            <form method="post" action="/signup/resume">
            <input type="hidden" name="code" value="\(link.text.escaped)">
            <button>\(words.button.escaped)</button>
            </form>

            """
    }
}

extension String {
    /// For the text of HTML and for values in double quotes.
    fileprivate var escaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
