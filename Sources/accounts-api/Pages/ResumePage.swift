import Accounts
import Hummingbird

/// Asks whether to go on with the sign-up on this device, without any script: the form posts what the link carries. Its
/// referrer policy lets a browser say with the form which origin it comes from, but not the path, which has the link.
struct ResumePage {
    let link: Token
    /// Whose sign-up it is; nil where the link opens nothing any more.
    let address: String?
    let serviceName: String
    let language: Language

    var response: Response {
        Response(
            status: address == nil ? .gone : .ok,
            headers: [.contentType: "text/html; charset=utf-8", .contentLanguage: language.rawValue],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
    }

    private var words: PageText {
        let messages = language.messages
        return address.map { messages.resume($0, serviceName: serviceName) }
            ?? messages.linkExpired(serviceName: serviceName)
    }

    private var html: String {
        """
        <!doctype html>
        <html lang="\(language.rawValue)">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <meta name="referrer" content="strict-origin">
        <title>\(words.title.escaped)</title>
        <h1>\(words.title.escaped)</h1>
        <p>\(words.text.escaped)</p>
        \(words.button.map(form) ?? "")

        """
    }

    private func form(_ button: String) -> String {
        """
        <form method="post" action="/signup/resume">
        <input type="hidden" name="code" value="\(link.text.escaped)">
        <button>\(button.escaped)</button>
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
