import Accounts
import Foundation
import HTTPTypes
import Hummingbird
import Mustache
import NIOCore

/// The templates, style sheet and script of the pages: built in, or replaced by an operator.
struct Assets: Sendable {
    private let templates: MustacheLibrary
    /// The style sheet without the rules of a brand.
    let styleSheet: String
    private(set) var styles: Asset
    let script: Asset
    /// Nil without a brand file.
    private(set) var brand: BrandAssets?

    /// - Parameter directory: a folder whose files replace the built-in files of the same names; nil to replace none.
    init(directory: String? = nil) throws(AssetsError) {
        func bytes(_ name: String, _ builtIn: [UInt8]) throws(AssetsError) -> [UInt8] {
            guard let directory else { return builtIn }
            let file = URL(filePath: directory).appending(path: name)
            guard FileManager.default.fileExists(atPath: file.path) else { return builtIn }
            do { return try Array(Data(contentsOf: file)) } catch {
                throw AssetsError(description: "cannot read \(file.path): \(error.localizedDescription)")
            }
        }
        if let directory {
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory), isDirectory.boolValue
            else { throw AssetsError(description: "\(directory) is not a directory") }
        }
        // An operator can replace the custom properties alone, so they have a file of their own. A browser loads both
        // files as one.
        let properties = try bytes("properties.css", PackageResources.properties_css)
        let rules = try bytes("signup.css", PackageResources.signup_css)
        styleSheet = [properties, rules].map { text in
            let text = String(decoding: text, as: UTF8.self)
            // U+FEFF is a byte order mark only at the beginning of a file, so none may stand between the joined files.
            return text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        }.joined(separator: "\n")
        styles = Self.styles(styleSheet)
        script = Asset(
            "signup.js",
            try bytes("signup.js", Self.builtInScript),
            "text/javascript; charset=utf-8"
        )
        MustacheContentTypes.register(SafeHTML(), named: SafeHTML.name)
        var templates = MustacheLibrary()
        for (name, builtIn) in Self.templateFiles {
            let text = String(decoding: try bytes("\(name).mustache", builtIn), as: UTF8.self)
            do { try templates.register("{{% CONTENT_TYPE:\(SafeHTML.name)}}\n\(text)", named: name) } catch {
                throw AssetsError(description: "\(name).mustache: \(error)")
            }
        }
        self.templates = templates
    }

    private static func styles(_ text: String) -> Asset {
        Asset("signup.css", Array(text.utf8), "text/css; charset=utf-8")
    }

    /// The same templates and script with the style and the files of a brand, if there is one.
    func branded(by brand: Brand?) -> Assets {
        guard let brand else { return self }
        var assets = self
        let files = BrandAssets(brand)
        assets.brand = files
        assets.styles = Self.styles("\(styleSheet)\n\(files.style)")
        return assets
    }

    /// The files that the server serves below `/assets`.
    var files: [Asset] { [styles, script] + (brand?.files ?? []) }

    /// The name of the template for a field; that of a plain input if there is no template with the given name.
    func template(ofField name: String) -> String {
        templates.getTemplate(named: name) == nil ? "field-input" : name
    }

    /// Renders a template. Its name must be that of a built-in template.
    func draw(_ template: String, _ members: JSON) -> String {
        guard let html = templates.render(members.forTemplates, withTemplate: template) else {
            preconditionFailure("the template \(template) does not exist")
        }
        return html
    }

    /// The built-in assets. Every test of a page loads them, so the templates are valid.
    static let builtIn: Assets = {
        do { return try Assets() } catch { preconditionFailure("\(error)") }
    }()

    /// The built-in script, which is one file for the browser and several files in the sources.
    static var builtInScript: [UInt8] { Array(joinScript(scriptParts).utf8) }

    /// The files of the script, in the order in which the browser runs them. `page` comes first, because other files
    /// use its constants; a class comes after the class that it extends; `start` comes last, because it calls functions
    /// of the other files.
    private static let scriptParts: [[UInt8]] = [
        PackageResources.page_js,
        PackageResources.busy_js,
        PackageResources.clock_js,
        PackageResources.older_templates_js,
        PackageResources.field_js,
        PackageResources.crop_js,
        PackageResources.picture_js,
        PackageResources.fields_js,
        PackageResources.tally_js,
        PackageResources.check_js,
        PackageResources.confirm_js,
        PackageResources.keep_js,
        PackageResources.type_js,
        PackageResources.send_js,
        PackageResources.recovery_codes_js,
        PackageResources.start_js,
    ]

    /// Joins the parts, and leaves out indentation, empty lines and lines that are comments: more than a quarter of the
    /// bytes. It does not parse JavaScript, so no string of the script may span lines.
    static func joinScript(_ parts: [[UInt8]]) -> String {
        let lines = parts.flatMap { String(decoding: $0, as: UTF8.self).split(separator: "\n") }
        let statements = lines.map { $0.drop { $0 == " " } }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
        return statements.map { $0 + "\n" }.joined()
    }

    static var templateNames: [String] { templateFiles.map(\.name) }

    /// Every file of the folder `Templates` once; a test compares this list with the folder.
    static let templateFiles: [(name: String, bytes: [UInt8])] = [
        ("page", PackageResources.page_mustache), ("start", PackageResources.start_mustache),
        ("step", PackageResources.step_mustache), ("codes", PackageResources.codes_mustache),
        ("review", PackageResources.review_mustache), ("done", PackageResources.done_mustache),
        ("cancel", PackageResources.cancel_mustache), ("resume", PackageResources.resume_mustache),
        ("ticket", PackageResources.ticket_mustache), ("problems", PackageResources.problems_mustache),
        ("form", PackageResources.form_mustache), ("account", PackageResources.account_mustache),
        ("edit", PackageResources.edit_mustache),
        ("authenticator", PackageResources.authenticator_mustache),
        ("choice", PackageResources.choice_mustache), ("message", PackageResources.message_mustache),
        ("contact", PackageResources.contact_mustache),
        ("label", PackageResources.label_mustache),
        ("message-of-field", PackageResources.message_of_field_mustache),
        ("eye", PackageResources.eye_mustache),
        ("field-input", PackageResources.field_input_mustache),
        ("field-textarea", PackageResources.field_textarea_mustache),
        ("field-password", PackageResources.field_password_mustache),
        ("field-code", PackageResources.field_code_mustache), ("field-totp", PackageResources.field_totp_mustache),
        ("field-second-factor", PackageResources.field_second_factor_mustache),
        ("field-date", PackageResources.field_date_mustache), ("field-select", PackageResources.field_select_mustache),
        ("field-checkboxes", PackageResources.field_checkboxes_mustache),
        ("field-consent", PackageResources.field_consent_mustache),
        ("field-image", PackageResources.field_image_mustache),
    ]
}

/// Escapes the special characters of HTML, scalar by scalar. The escaping of the library compares whole characters, so
/// it misses a `<` with a combining mark.
private struct SafeHTML: MustacheContentType {
    static let name = "SAFE"

    func escapeText(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// Why the assets cannot be loaded.
struct AssetsError: Error, CustomStringConvertible {
    let description: String
}

/// A file that pages refer to. Its path contains a digest of its content, so a changed file has another path, and
/// browsers can cache each file for a year.
struct Asset: Sendable {
    let path: String
    private let body: ByteBuffer
    /// The file in the gzip format; nil if that does not save more than a tenth, as for a font or a PNG picture.
    private let compressedBody: ByteBuffer?
    private let type: String
    private let contentPolicy: String?

    /// - Parameter contentPolicy: the Content-Security-Policy of the file; nil for the default of ``SecurityHeaders``.
    init(_ name: String, _ bytes: [UInt8], _ type: String, contentPolicy: String? = nil) {
        // The digest needs text, and a font or a picture is not UTF-8.
        let digest = JSON.string(Data(bytes).base64EncodedString()).digest
        path = "/assets/\(digest.prefix(16))/\(name)"
        body = ByteBuffer(bytes: bytes)
        let compressed = Gzip.compress(bytes)
        compressedBody = compressed.count * 10 < bytes.count * 9 ? ByteBuffer(bytes: compressed) : nil
        (self.type, self.contentPolicy) = (type, contentPolicy)
    }

    /// - Parameter acceptEncoding: `Accept-Encoding` of the request; nil if it has none.
    func response(acceptEncoding: String?) -> Response {
        var headers: HTTPFields = [
            .contentType: type, .cacheControl: "public, max-age=31536000, immutable",
        ]
        headers[.contentSecurityPolicy] = contentPolicy
        var body = body
        if let compressedBody {
            headers[.vary] = "Accept-Encoding"
            if WeightedList(acceptEncoding ?? "").quality(of: "gzip", "x-gzip", "*") > 0 {
                headers[.contentEncoding] = "gzip"
                body = compressedBody
            }
        }
        headers[.contentLength] = "\(body.readableBytes)"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
