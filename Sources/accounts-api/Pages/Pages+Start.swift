import Accounts
import Foundation
import Hummingbird

extension Pages {
    /// The step whose form the first page shows; nil if a field of it has a name that the form needs for itself.
    var firstStep: Step? {
        signups.flow.steps.first.flatMap { step in
            step.fields.contains { FirstFormBody.startNames.contains($0.name) } ? nil : step
        }
    }

    /// The first page, with what the query of the request names: the authorization request of an application, the URL
    /// to return to, and the e-mail address with which the form is filled in.
    func first(_ request: Request, notice: Word?, after problem: Problem? = nil, in language: Language) -> Page {
        let ticket = request.uri.queryParameters["request"].map { String($0) }
        let hint = AddressHint(of: request, ticket.flatMap { provider?.request(ticket: $0) })
        return start(
            notice: notice,
            after: problem,
            hint.flatMap { filledIn($0) },
            for: ticket,
            returningTo: returnURL(in: request),
            in: language
        )
    }

    /// Answers to the first step that contain only the e-mail address; nil if the first page has no field for one, or
    /// if the hint is not an e-mail address.
    private func filledIn(_ hint: AddressHint) -> Answers? {
        guard let field = firstStep?.fields.first(where: { $0.control.type == "email" }), EmailAddress(hint.text) != nil
        else { return nil }
        return Answers([.init(field.name, .json(.string(hint.text)))])
    }

    /// The page for a browser without an open sign-up or recovery: the form of the first step, or a list of the steps
    /// if ``firstStep`` is nil. Only sending the form starts a draft, so reading the page writes nothing.
    ///
    /// - Parameters:
    ///   - problem: why there is no draft, or why it could not start; nil if the person has just opened the page.
    ///   - answers: what the form is filled in with.
    ///   - ticket: the encrypted authorization request (``AuthorizationRequest/ticket(_:)``); nil if no application has
    ///     sent the person here.
    ///   - returnURL: the page behind a proxy to which the person returns after the sign-up; nil for none.
    func start(
        notice: Word? = nil,
        after problem: Problem? = nil,
        _ answers: Answers? = nil,
        for ticket: String? = nil,
        returningTo returnURL: String? = nil,
        in language: Language
    ) -> Page {
        let messages = language.messages
        let isSignup = signups.flow.purpose == .signup
        let (heading, text) = introduction(in: language)
        var members: [JSON.Member] = [
            .init("action", .string(action(for: ticket, returningTo: returnURL))),
            .init("request", ticket.map(JSON.string) ?? .null),
            .init("return_to", returnURL.map(JSON.string) ?? .null), .init("text", .string(text)),
            .init(
                "sign_in",
                .string(ReturnTarget(url: ticket.map(AuthorizePages.path) ?? returnURL).carried(by: "/sign-in"))
            ),
        ]
        var title = heading ?? text
        if let firstStep {
            let form = FirstForm()
            let shown = step(firstStep, form, after: problem, answers, in: language)
            if isSignup { title = shown.title }
            members += shown.members + [.init("form", .string(form.text))]
        } else {
            members.append(
                .init("steps", .array(signups.flow.steps.map { ["title": .string($0.shortTitle(in: language) ?? "")] }))
            )
        }
        let isFresh = notice == nil && problem == nil
        return Page(
            template: .start,
            title: title,
            status: problem?.slug.status ?? .ok,
            headers: problem?.headers ?? [:],
            notice: notice.map { messages.text($0.inFlow(of: signups.flow.purpose)) } ?? problem?.notice(in: language),
            isNews: notice.map { $0 != .noSignup } ?? false,
            isPublic: isFresh,
            description: isFresh ? messages.text(isSignup ? .description : .recoverText) : nil,
            members: members
        )
    }

    /// The URL to which the form of the first step is sent. The query repeats the hidden fields `request` and
    /// `return_to`, because the service does not read the body of an upload that it refuses.
    private func action(for ticket: String?, returningTo returnURL: String?) -> String {
        let path = signups.flow.purpose.path
        let encoded = ticket?.addingPercentEncoding(withAllowedCharacters: ReturnTarget.unreserved)
        return ReturnTarget(url: returnURL).carried(by: encoded.map { "\(path)?request=\($0)" } ?? path)
    }

    private func step(
        _ step: Step,
        _ form: FirstForm,
        after problem: Problem?,
        _ answers: Answers?,
        in language: Language
    ) -> Page {
        let draft = signups.unstoredDraft(of: form, in: language)
        let enrolment = signups.firstEnrolment(at: step, of: draft)
        let shown = Representations(signups: signups).step(step, of: draft, enrolment)
        // The form shows only why answers were refused. The notice of the page reports every other problem.
        let refusal = problem.flatMap { $0.slug == .validationFailed ? $0 : nil }
        return self.step(shown, step, of: draft, after: refusal, answers, in: language)
    }
}
