import Accounts
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Renders the responses of a flow as HTML pages. Programs get the same responses as JSON. ``SignInPages`` uses this
/// type, too.
struct Pages: Sendable {
    let signups: Signups
    let assets: Assets
    /// Nil if there are no applications.
    var provider: Provider?
    /// The hosts to which a person may return; nil if forward authentication is not configured.
    var hosts: ForwardAuthHosts?

    private var flow: Flow { signups.flow }
    private var root: String { flow.purpose.path }

    /// Redirects a browser, which then sends a GET request, so that a reload does not repeat the action.
    static func seeOther(_ path: String, _ headers: HTTPFields = [:]) -> Response {
        var response = Response(status: .seeOther, headers: headers)
        response.headers[.location] = path
        return response
    }

    func response(_ page: Page, in language: Language) -> Response {
        let nonce = Data([UInt8].random(count: 18)).base64EncodedString()
        let words = Word.allCases.map { word in
            JSON.Member(word.name, .string(language.messages.text(word.inFlow(of: flow.purpose))))
        }
        var members: [JSON.Member] = [
            .init("title", .string(page.title)), .init("service", .string(signups.serviceName)),
            .init("language", .string(language.tag)),
            .init("direction", .string(language.isRightToLeft ? "rtl" : "ltr")),
            .init("words", .object(words)), .init("nonce", .string(nonce)), .init("path", .string(root)),
            .init("is_signup", .bool(flow.purpose == .signup)),
            .init("styles", .string(assets.styles.path)), .init("script", .string(assets.script.path)),
        ]
        if let notice = page.notice {
            members += [.init("notice", .string(notice)), .init("is_news", .bool(page.isNews))]
        }
        let switched = page.hasLanguages ? languages(language) : []
        members += [
            .init("is_named", .bool(page.title.contains(signups.serviceName))),
            .init("is_public", .bool(page.isPublic)), .init("description", page.description.map(JSON.string) ?? .null),
            .init("languages", .array(switched)), .init("language_form", .string(LanguageRoutes.path)),
            .init("page", .string(address(of: page))),
            .init("has_footer", .bool(!switched.isEmpty || assets.brand?.hasLinks == true)),
        ]
        if let brand = assets.brand {
            members.append(.init("brand", brand.members(serviceName: signups.serviceName, in: language)))
        }
        let html = assets.draw(page.template.rawValue, .object(members + page.members))
        var headers = page.headers
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.contentLanguage] = language.tag
        headers[.contentSecurityPolicy] = contentPolicy(nonce, page.formTargets)
        // ``PageRequest`` needs the referer. With no-referrer, browsers also send "Origin: null" with forms (Fetch,
        // "append a request Origin header"), which the origin check refuses without `Sec-Fetch-Site`.
        headers[.referrerPolicy] = "same-origin"
        return Response(
            status: page.status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
    }

    /// The languages of the flow, for the form that changes the language; none if there is only one.
    private func languages(_ current: Language) -> [JSON] {
        guard flow.languages.count > 1 else { return [] }
        return flow.languages.map { language in
            [
                "tag": .string(language.tag), "name": .string(language.nativeName),
                "is_chosen": .bool(language == current),
            ]
        }
    }

    /// The path and query at which a browser gets this page again after the person has changed the language.
    private func address(of page: Page) -> String {
        let request = PageRequest.current
        return (request?.isRead == true ? nil : page.address) ?? request?.address ?? root
    }

    /// The Content-Security-Policy of a page: no content of other origins, only the script of this service, and forms
    /// only to this service and the targets.
    private func contentPolicy(_ nonce: String, _ formTargets: [String]) -> String {
        let targets = Set(formTargets.compactMap(Self.origin)).sorted().map { " \($0)" }.joined()
        return """
            default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'self'; img-src 'self' blob: data:; \
            \(assets.brand?.contentPolicy ?? "")connect-src 'self'; form-action 'self'\(targets); base-uri 'none'; \
            object-src 'none'; frame-ancestors 'none'
            """
    }

    /// Returns the source for `form-action` that permits the URL: the origin of a web address, or the scheme of a URL
    /// that opens an app. Such a scheme contains a dot (RFC 8252 §7.1). Returns nil for any other text.
    private static func origin(_ address: String) -> String? {
        let scheme = address.prefix { $0 != ":" }
        guard scheme.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }) else { return nil }
        guard ["https", "http"].contains(scheme) else { return scheme.contains(".") ? "\(scheme):" : nil }
        let host = address.dropFirst(scheme.count + 3).prefix { !"/?#".contains($0) }
        guard host.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "-.:[]".utf8.contains($0) }) else { return nil }
        return "\(scheme)://\(host)"
    }
}

// MARK: - Answers

extension Pages {
    /// The HTML response in place of the JSON response to an action.
    func response(to act: Operation.Act, _ answer: Answer, of draft: Draft? = nil, in language: Language) -> Response {
        let next = answer.json?["next"]?["href"]?.string
        switch act {
        case .show where answer.json?["state"] == "committed":
            if flow.purpose == .recovery { return response(start(in: language), in: language) }
            if flow.purpose == .emailChange { return Self.seeOther("/account") }
            return response(done(answer.json ?? .object([]), in: language), in: language)
        case .review:
            return response(review(answer.json ?? .object([]), of: draft, in: language), in: language)
        case .start, .show, .resume, .redeem, .submit, .submitForm, .clear, .clearForm, .forgetRecoveryCodes:
            if let codes = answer.json?["recovery_codes"] {
                return response(recoveryCodes(codes, next: next ?? root, in: language), in: language)
            }
            return Self.seeOther(next ?? root, answer.headers)
        case .commit:
            // After a sign-up, the browser goes to the last page of the sign-up, which has the link to continue.
            let goOn = flow.purpose == .signup ? nil : answer.json?["continue"]?["href"]?.string
            return Self.seeOther(goOn ?? flow.purpose.pathAfterCommit, answer.headers)
        case .cancel, .cancelForm:
            // A change of the address has no first page: a page of the account starts it.
            let first = flow.purpose == .emailChange ? "/account" : root
            return Self.seeOther("\(first)?\(Self.gaveUp)", answer.headers)
        case .askToCancel:
            return response(
                Page(template: .cancel, title: language.messages.text(.giveUp.inFlow(of: flow.purpose))),
                in: language
            )
        case .undoEmailChange:
            return response(undone(in: language), in: language)
        case .handOff:
            let messages = language.messages
            var page = message(
                messages.text(.handedOff),
                messages.text(.handedOffText),
                next: root,
                button: messages.text(.goOnHere)
            )
            page.status = answer.status
            return response(page, in: language)
        case .listProblems, .showProblem:
            // The reference of all problems is in English only.
            let english = flow.knownLanguages[Language.english.tag] ?? .english
            return response(problems(answer.json ?? .object([])), in: english)
        default:
            return answer.response
        }
    }

    /// The page behind a proxy to which the person wants to return; nil if there is none, or if it is not permitted.
    func returnURL(in request: Request) -> String? {
        request.uri.queryParameters[Substring(ReturnTarget.name)].flatMap { hosts?.allowed(String($0)) }
    }

    /// Asks the person to continue the open draft and to return to the URL afterwards. Another site can open this page,
    /// but cannot send its form. So the page changes nothing, and only the form changes the destination of the draft.
    func continuation(returningTo url: String, in language: Language) -> Page {
        form(
            FormPage(
                title: flow.purpose == .signup ? .signUp : .recoverTitle,
                action: root,
                hidden: [(ReturnTarget.name, url)],
                button: .goOn
            ),
            in: language
        )
    }

    /// - Parameter answer: the response that shows the committed sign-up.
    private func done(_ answer: JSON, in language: Language) -> Page {
        let continuation = answer["continue"]
        let goOn = language.messages.continueTo(continuation?["name"]?.string ?? signups.serviceName)
        return Page(
            template: .done,
            title: language.messages.text(.done),
            members: [
                .init("account", answer["account"] ?? .null), .init("go_on", .string(goOn)),
                .init("next", continuation?["href"] ?? .null),
            ]
        )
    }

    /// The page that shows new recovery codes. If there is only one code, it replaces the code that the person has just
    /// used.
    func recoveryCodes(_ codes: JSON, next: String, in language: Language) -> Page {
        if case .array(let all) = codes, all.count == 1, let code = all[0].string {
            return newRecoveryCode(code, next: next, in: language)
        }
        var page = Page(
            template: .codes,
            title: language.messages.text(.recoveryTitle),
            members: [.init("codes", codes), .init("next", .string(next))]
        )
        page.isShownOnce = true
        return page
    }

    /// The page with the recovery codes of a sign-up, shown until the person confirms that they are saved.
    func unsavedCodes(of draft: Draft, at step: Step, in language: Language) -> Page {
        unsavedCodes(
            draft.unsavedRecoveryCodes(at: step),
            of: signups.identifyingAddress(in: draft.values)?.rawValue,
            savedAt: "\(step.href)/saved",
            in: language
        )
    }

    /// The page with new recovery codes, shown until the person confirms that they are saved.
    ///
    /// - Parameters:
    ///   - name: the address or username of the account; nil if it has none.
    ///   - path: the path of the form that confirms.
    func unsavedCodes(_ codes: [RecoveryCode], of name: String?, savedAt path: String, in language: Language) -> Page {
        var page = recoveryCodes(.array(codes.map { .string($0.text) }), next: path, in: language)
        page.isShownOnce = false
        page.members += [.init("is_unsaved", true), .init("account_name", name.map(JSON.string) ?? .null)]
        return page
    }

    /// Asks whether to continue the sign-up on this device. Mail scanners open links, so the link stays valid until the
    /// form is posted.
    ///
    /// - Parameters:
    ///   - address: the masked address of the sign-up; nil if the link is not valid.
    ///   - replacingOther: whether this browser has another unfinished sign-up.
    func resume(_ link: Token<Draft>?, of address: String?, replacingOther: Bool = false, in language: Language) -> Page
    {
        let name = signups.serviceName
        let text =
            address.map { language.messages.resume($0, serviceName: name) }
            ?? language.messages.linkExpired(serviceName: name)
        // The person may have mistyped the code, so the page for an invalid link asks for it again.
        var members: [JSON.Member] = [
            .init("text", .string(text.text)), .init("asks_for_code", .bool(address == nil)),
        ]
        if let button = text.button, let link {
            members += [
                .init("button", .string(button)), .init("code", .string(link.text)),
                .init("attempt", .string(LinkOpening().text)),
            ]
            if replacingOther { members.append(.init("warning", .string(language.messages.text(.handOffReplaces)))) }
        }
        return Page(
            template: .resume,
            title: text.title,
            status: address == nil ? .gone : .ok,
            members: members
        )
    }

    /// Asks for the code in a link that continues a sign-up. If the URL of the page has a code in its fragment, the
    /// script sends it; without script, the person types it.
    ///
    /// - Parameter problem: why the code was refused; nil if none was sent.
    func enterLinkCode(after problem: Problem? = nil, in language: Language) -> Page {
        Page(
            template: .resume,
            title: language.messages.linkExpired(serviceName: signups.serviceName).title,
            notice: problem?.notice(in: language),
            members: [
                .init("asks_for_code", true), .init("error", .string(problem?.messagesByField["code"] ?? "")),
                .init("is_refused", .bool(problem != nil)),
            ]
        )
    }

    /// The page for an incomplete ticket (``Ticket``): the link in a mail with a code was cut, for example by a mail
    /// program.
    func incompleteTicket(in language: Language) -> Page {
        let messages = language.messages
        let text = messages.message(for: Refusal("ticket", .badFormat), about: .link, label: nil)
        return Page(
            template: .ticket,
            title: messages.text(.ticketInvalid),
            status: .notFound,
            members: [.init("text", .string(text)), .init("is_over", true)]
        )
    }

    /// Asks whether to mail another code in exchange for a ticket (``Ticket``). Mail scanners open links, so the ticket
    /// stays valid until the form is posted.
    ///
    /// - Parameters:
    ///   - address: the masked address of the ticket; nil if the ticket is not valid.
    ///   - replacesSignup: whether the browser has an open sign-up that may have answers which the person loses by
    ///     sending the form.
    func ticket(
        _ ticket: Ticket?,
        for address: String?,
        replacesSignup: Bool = false,
        in language: Language
    ) -> Page {
        let name = signups.serviceName
        let text =
            address.map { language.messages.ticket($0, for: flow.purpose, serviceName: name) }
            ?? language.messages.ticketExpired(serviceName: name)
        var members: [JSON.Member] = [.init("text", .string(text.text)), .init("is_over", .bool(address == nil))]
        if let button = text.button, let ticket {
            members += [.init("button", .string(button)), .init("ticket", .string(ticket.text))]
            if replacesSignup {
                members.append(
                    .init("warning", .string(language.messages.text(.replacesSignup.inFlow(of: flow.purpose))))
                )
            }
        }
        return Page(
            template: .ticket,
            title: text.title,
            status: address == nil ? .gone : .ok,
            members: members
        )
    }

    private func message(_ title: String, _ text: String, next: String, button: String) -> Page {
        Page(
            template: .message,
            title: title,
            members: [.init("text", .string(text)), .init("next", .string(next)), .init("button", .string(button))]
        )
    }
}

// MARK: - Problems

extension Pages {
    /// The query of the page to which a browser goes after the person has cancelled a draft.
    static let gaveUp = "given-up"
    /// The query of a step after its code was mailed again.
    static let codeSent = "sent"
    /// The query of a step whose code was not checked, because the form was made for an earlier address of the draft.
    static let addressIsOther = "other-address"

    /// The notice that the query of a step selects; nil for any other query.
    static func notice(inQuery query: String?) -> Word? {
        switch query {
        case codeSent: .codeSent
        case addressIsOther: .addressIsOther
        default: nil
        }
    }

    /// The HTML response to a problem: a redirect to the page to continue on, or a page with the message.
    ///
    /// - Parameter hasSessionCookie: whether the browser has the cookie of a session, which may have ended.
    func response(
        to problem: Problem,
        _ request: Request,
        hasSessionCookie: Bool = false,
        in language: Language
    ) -> Response {
        let reads = [.get, .head].contains(request.method)
        let isFirst = [root, "\(root)/"].contains(request.uri.path) && reads
        switch problem.slug {
        // This flow has no first page: a page of the account starts it.
        case .noDraft where flow.purpose == .emailChange:
            return Self.seeOther("/account/email")
        case .notFound where request.uri.path == "/" && reads:
            return Self.seeOther(root)
        case .draftExpired where flow.purpose == .emailChange:
            return Self.seeOther("/account/email?over")
        case .confirmationRequired where flow.purpose == .emailChange:
            return Self.seeOther("/account/confirm?email-change")
        case .noDraft:
            let notice: Word? = request.uri.query == Self.gaveUp ? .gaveUp : nil
            let page =
                isFirst
                ? first(request, notice: notice, in: language)
                : start(notice: .noSignup, after: problem, in: language)
            return response(page, in: language)
        case .draftExpired:
            let reason = problem.members.first { $0.name == "reason" }?.value.string
            let notice: Word? = reason.map { reason in
                switch Termination(rawValue: reason) {
                case .cancelled: .gaveUp
                case .superseded: .committedElsewhere
                case .continuedElsewhere: .goneElsewhere
                case .accountErased: .accountErased
                case .expired, nil: .overdue
                }
            }
            let page =
                isFirst
                ? first(request, notice: notice, after: problem, in: language)
                : start(notice: notice, after: problem, in: language)
            return response(page, in: language)
        case .noSession:
            if problem.isOfIdleSession { return Self.seeOther("/account/confirm") }
            let notice = request.uri.path.hasPrefix("/sign-in") ? "over" : "ended"
            return Self.seeOther(hasSessionCookie ? "/sign-in?\(notice)" : "/sign-in")
        case .stepLocked, .incomplete:
            let next = problem.members.first { $0.name == "next" }?.value["href"]?.string
            return Self.seeOther(next ?? root)
        case .alreadyCommitted:
            return Self.seeOther(flow.purpose.pathAfterCommit)
        default:
            let leadsToAccount = hasSessionCookie && !request.uri.path.hasPrefix(root)
            let word: Word? =
                switch problem.slug {
                case .notFound, .unknownStep: .notFoundText
                case .busy, .unavailable, .internal: .tryLater
                case .forbiddenOrigin: .otherSiteText
                case .tooLarge: .tooLargeText
                default: nil
                }
            let text = word.map(language.messages.text) ?? problem.notice(in: language)
            let isSignIn = request.uri.path.hasPrefix("/sign-in") || request.uri.path.hasPrefix("/session")
            let (next, button): (String, Word) =
                leadsToAccount
                ? ("/account", .account)
                : isSignIn ? ("/sign-in", .signIn) : (root, .goToSignup.inFlow(of: flow.purpose))
            var page = message(
                // To a person, a step that does not exist is a page that does not exist.
                language.messages.title(of: problem.slug == .unknownStep ? .notFound : problem.slug),
                text ?? "",
                next: next,
                button: language.messages.text(button)
            )
            page.members.append(.init("can_sign_in", .bool(!leadsToAccount && !isSignIn)))
            page.status = problem.slug.status
            page.headers = problem.headers
            return response(page, in: language)
        }
    }
}

extension Problem {
    /// True if the person can solve the problem on the page that they submitted.
    var isForTheSamePage: Bool {
        [.validationFailed, .rateLimited, .busy, .unavailable, .identifierTaken, .staleRevision].contains(slug)
    }

    /// True if the exceeded rate limit does not apply to the link in a mail with a code. The person can continue with
    /// this link, and need not wait.
    var needsTicket: Bool { limit.flatMap(Limits.Name.init)?.yieldsToTicket == true }

    /// The message about the problem for the person, on a page or in the member `message`; nil if a page shows only the
    /// title of the problem.
    func notice(in language: Language) -> String? {
        switch slug {
        case .validationFailed: language.messages.text(.checkAnswers)
        case .signInFailed: language.messages.text(.signInFailed)
        case .rateLimited:
            if needsTicket {
                language.messages.text(.useTicket)
            } else if limit == Limits.OtherName.resend.rawValue, let wait = headers[.retryAfter] {
                language.messages.text(.codeUnderWay).replacing("{left}", with: wait)
            } else if let wait = headers[.retryAfter].flatMap({ Int($0) }).map({ RoundedWait(seconds: $0) }) {
                if limit == Limits.OtherName.addressChanges.rawValue {
                    language.messages.addressPause(wait)
                } else if limit == Limits.OtherName.appGuessesForAccount.rawValue {
                    language.messages.tooManyAppCodes(wait)
                } else {
                    language.messages.tooOften(wait)
                }
            } else {
                language.messages.text(.tooOften)
            }
        case .busy, .unavailable, .internal: language.messages.text(.tryAgain)
        case .identifierTaken, .staleRevision: language.messages.title(of: slug)
        default: nil
        }
    }
}

extension JSON {
    /// The value for templates, in which null becomes an empty text, and members that are null are left out.
    var forTemplates: Any {
        switch self {
        case .null: ""
        case .bool(let value): value
        case .integer(let value): value
        case .number(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.forTemplates)
        case .object(let members):
            Dictionary(
                members.filter { $0.value != .null }.map { ($0.name, $0.value.forTemplates) },
                uniquingKeysWith: { $1 }
            )
        }
    }
}

extension Word {
    /// Returns the word for this flow: if this word is about a sign-up and the flow is not one, the word that takes its
    /// place; otherwise the same word.
    func inFlow(of purpose: FlowPurpose) -> Word {
        if purpose == .signup { return self }
        return switch self {
        case .begin: .goOn
        case .goToSignup: purpose == .recovery ? .recoverTitle : .goOn
        case .giveUp: purpose == .recovery ? .recoverGiveUp : .otherGiveUp
        case .giveUpText: purpose == .recovery ? .recoverGiveUpText : .otherGiveUpText
        case .giveUpNow: purpose == .recovery ? .recoverGiveUpNow : .otherGiveUpNow
        case .codeSentTo: purpose == .recovery ? .codeSentIfKnown : self
        case .overdue: .otherOverdue
        case .gaveUp: purpose == .recovery ? .recoverGaveUp : .otherGaveUp
        case .noSignup: .otherMissing
        case .committedElsewhere, .accountErased: .otherSuperseded
        case .goneElsewhere: .otherElsewhere
        case .replacesSignup: .otherReplaces
        case .review: purpose == .recovery ? .recoverTitle : .emailChangeTitle
        case .reviewText: purpose == .recovery ? .recoverReview : .emailChangeReview
        case .commit: purpose == .recovery ? .recoverCommit : .emailChangeCommit
        default: self
        }
    }
}
