import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// The pages on which people see, change and erase their account.
extension SignInPages {
    /// Answers a browser at a path of the JSON API: with a page or a redirect, or with the JSON of an export.
    func page(
        _ act: Operation.Act,
        _ request: Request,
        _ context: SessionContext,
        _ handle: (Request, SessionContext) async throws -> Answer
    ) async throws -> Response {
        if act == .showAccount { return try await show(request, context) }
        if act == .exportAccount {
            guard context.session.isConfirmed else { return Pages.seeOther("/account/confirm?export") }
            return try await handle(request, context).response
        }
        if act == .removeAccountPhotoForm {
            _ = try await handle(request, context)
            return Pages.seeOther("\(try account.image(context).step.href)?\(Self.photoRemoved)")
        }
        return try await editPage(act, request, context, handle)
    }

    /// The query of a step after a photo of it was removed.
    private static let photoRemoved = "photo-removed"

    /// Shows a step of the account as a form, or stores the answers that were sent. If they are refused, the form shows
    /// them again, unless they were not read, because they were too large or too many images were being uploaded.
    private func editPage(
        _ act: Operation.Act,
        _ request: Request,
        _ context: SessionContext,
        _ handle: (Request, SessionContext) async throws -> Answer
    ) async throws -> Response {
        let step = try account.step(context)
        var typed = context.formWithFiles == nil ? context.answers : nil
        var problem: Problem?
        if act == .editAccountStepForm {
            do {
                _ = try await account.uploads.withAnswers(of: request, context) { context in
                    typed = context.answers
                    return try await handle(request, context)
                }
                return Pages.seeOther("/account?saved")
            } catch {
                let found = ProblemContext(
                    language: context.language,
                    logger: context.logger,
                    representations: account.representations
                ).problem(for: error)
                guard found.isForTheSamePage else { throw found }
                context.subject.set(found)
                problem = found
            }
        }
        let draft = try await sessions.draft(of: context.session, in: context.language)
        let shown = account.representations.accountStep(step, of: draft)
        let page = pages.edit(
            shown,
            step,
            of: draft,
            after: problem,
            problem.flatMap { _ in typed },
            notice: request.uri.query == Self.photoRemoved ? .photoRemoved : nil,
            in: context.language
        )
        return pages.response(page, in: context.language)
    }

    private func show(_ request: Request, _ context: SessionContext) async throws -> Response {
        let page = pages.account(
            context.session,
            try await sessions.overview(of: context.session.account.id),
            try await sessions.values(of: context.session.account),
            sessions: try await session.list(request, context).json ?? .null,
            notice: Self.notices[request.uri.query ?? ""],
            in: context.language
        )
        return pages.response(page, in: context.language)
    }

    private static let notices: [String: Word] = [
        "password-changed": .passwordChanged, "address-changed": .addressChanged, "saved": .saved,
        "authenticator-removed": .authenticatorRemoved, Pages.gaveUp: .otherGaveUp, "signed-out-there": .signedOutThere,
        "signed-out-others": .signedOutOthers,
    ]

    @Sendable func signOut(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard let other = context.answers["session"]?.json?.string else {
            // Signing out also ends an idle session.
            return Pages.seeOther("/sign-in?signed-out", try await session.signOut(request, context).headers)
        }
        let current = try await required(context)
        if other == "others" {
            try await sessions.endOthers(than: current)
            return Pages.seeOther("/account?signed-out-others")
        }
        guard let id = ID<AccountSession>(other), try await sessions.end(id, of: current.account.id) else {
            return Pages.seeOther("/account")
        }
        return Pages.seeOther("/account?signed-out-there")
    }

    @Sendable func showPassword(_ request: Request, _ context: RequestScope) async throws -> Response {
        let current = try await required(context)
        guard current.isConfirmed else { return Pages.seeOther("/account/confirm?password") }
        guard try await sessions.overview(of: current.account.id).hasPassword else {
            throw Problem(.notFound, "The account has no password.")
        }
        return response(passwordForm(of: current, in: context.language), context)
    }

    private func passwordForm(of session: AccountSession, in language: Language) -> FormPage {
        let fields = sessions.flow.fields.filter { $0.kind.takesSecret }
        return FormPage(
            title: .changePassword,
            text: [.changeEndsSessions],
            action: "/account/password",
            fields: fields.map { field in
                var shown = FormPage.password(
                    field.name.rawValue,
                    field.kind.repeatedField == nil ? .newPassword : .newPasswordAgain,
                    isNew: true
                )
                shown.help = field.helps[language]
                return shown
            },
            accountName: session.account.username ?? session.account.email,
            button: .changePassword,
            back: "/account",
            isOfAccount: true
        )
    }

    @Sendable func changePassword(_ request: Request, _ context: RequestScope) async throws -> Response {
        let current = try await required(context)
        let client = session.cookies.client(of: request)
        return try await answering(context, next: "/account?password-changed", confirming: "password") {
            let new = try await sessions.from(context.network, client).changePassword(
                context.answers,
                of: current,
                in: context.language
            )
            var answer = Answer(json: .object([]))
            if let new { answer.add(new, isBearer: false, session.cookies) }
            return answer
        } orShow: { _ in
            passwordForm(of: current, in: context.language)
        }
    }

    @Sendable func showEmail(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard let emailChange else { throw Problem(.notFound, "Accounts have no address.") }
        let current = try await required(context)
        guard current.account.email != nil else { throw Problem.noAddress }
        guard current.isConfirmed else { return Pages.seeOther("/account/confirm?email") }
        if let page = try await pause(.emailChangeTitle, of: current, in: context.language) { return page }
        let isOver = request.uri.query == "over"
        let form = Self.emailForm(of: emailChange.site.signups.flow)
        return response(form, notice: isOver ? .otherOverdue : nil, context)
    }

    /// The form for the new address. Sending it starts the change.
    private static func emailForm(
        _ typed: String = "",
        by form: FirstForm = FirstForm(),
        of flow: Flow
    ) -> FormPage {
        FormPage(
            title: .emailChangeTitle,
            text: [.emailChangeText],
            action: "/account/email",
            fields: [
                .init(name: "email", label: .newAddress, autocomplete: "email", type: "email", value: typed)
            ],
            hidden: [(FirstFormBody.formName.rawValue, form.text)],
            button: .next,
            back: "/account",
            isOfAccount: true,
            steps: flow.steps
        )
    }

    @Sendable func startEmailChange(_ request: Request, _ context: RequestScope) async throws -> Response {
        guard let emailChange else { throw Problem(.notFound, "Accounts have no address.") }
        let current = try await required(context)
        let (site, step) = (emailChange.site, emailChange.site.signups.flow.steps[0])
        let form = context.answers[FirstFormBody.formName]?.json?.string.flatMap { FirstForm($0) } ?? FirstForm()
        // The page names the field `email`, whatever the flow file calls it.
        let typed = context.answers["email"]?.json?.string
        var submitted: Response?
        let started = try await answering(context, next: step.href, confirming: "email") {
            let (draft, token) = try await emailChange.begin(
                request,
                current,
                from: context.network,
                in: context.language,
                by: form
            )
            if let typed {
                let answers = step.answers(inForm: Answers([.init(step.fields[0].name, .json(.string(typed)))]))
                submitted = await site.submit(answers, to: step, of: draft, request, context)
            }
            var answer = Answer(json: .object([]))
            answer.headers.append(site.cookie.set(token.text))
            return answer
        } orShow: { _ in
            Self.emailForm(typed ?? "", by: form, of: site.signups.flow)
        }
        for field in started.headers where field.name == .setCookie { submitted?.headers.append(field) }
        return submitted ?? started
    }

    @Sendable func showErase(_ request: Request, _ context: RequestScope) async throws -> Response {
        let current = try await required(context)
        guard current.isConfirmed else { return Pages.seeOther("/account/confirm?erase") }
        if let page = try await pause(.eraseAccount, of: current, in: context.language) { return page }
        return response(Self.eraseForm(of: current), context)
    }

    /// Returns a page that says how long to wait after a change of the address; nil if the form may be sent.
    private func pause(_ title: Word, of session: AccountSession, in language: Language) async throws -> Response? {
        guard let wait = try await sessions.signups.waitAfterMove(of: session.account.id) else { return nil }
        let form = FormPage(title: title, action: "/account", isOfAccount: true, next: (.account, "/account"))
        var page = pages.form(form, after: .limited(wait), in: language)
        (page.status, page.headers) = (.ok, [:])
        return pages.response(page, in: language)
    }

    private static func eraseForm(of session: AccountSession) -> FormPage {
        FormPage(
            title: .eraseAccount,
            text: [.eraseText],
            action: "/account/erase",
            subject: session.account.email ?? session.account.username,
            button: .eraseNow,
            isDangerous: true,
            back: "/account",
            isOfAccount: true
        )
    }

    private static let erasedPage = FormPage(
        title: .accountGone,
        text: [.accountGoneText],
        action: "/signup",
        next: (.signUp, "/signup")
    )

    @Sendable func erase(_ request: Request, _ context: RequestScope) async throws -> Response {
        let current = try await required(context)
        let client = session.cookies.client(of: request)
        return try await answering(context, last: Self.erasedPage, confirming: "erase") {
            try await sessions.from(context.network, client).eraseAccount(of: current, in: context.language)
            return account.erased
        } orShow: { _ in
            Self.eraseForm(of: current)
        }
    }

    /// The pages that need a confirmation first. The key is the query of the page that asks for it, such as
    /// `/account/confirm?email`.
    private static let pagesNeedingConfirmation = [
        "password": "/account/password", "email": "/account/email", "erase": "/account/erase",
        "export": "/account/export", "authenticator": AuthenticatorPages.path,
        "email-change": "\(FlowPurpose.emailChange.path)/review",
    ]

    @Sendable func showConfirmation(_ request: Request, _ context: RequestScope) async throws -> Response {
        let target = ReturnTarget(of: request, among: returnTargets)
        let current = try await confirming(context)
        guard try await sessions.overview(of: current.account.id).hasPassword else {
            return Pages.seeOther(target.link(to: confirmationWithoutPassword))
        }
        let next = String((request.uri.query ?? "").prefix { $0 != "&" })
        return response(confirmationForm(next, of: current).carrying(target), context)
    }

    /// The path of the page on which a person without a password confirms a session. It is the page of the sign-in with
    /// a mailed code, except in a flow that has no such sign-in but has a recovery. There, the person sets a first
    /// password in a recovery.
    private var confirmationWithoutPassword: String {
        let signsInByCode = sessions.flow.signIn.methods.contains(.code)
        return signsInByCode || !sessions.flow.hasRecovery ? "/sign-in/mail" : FlowPurpose.recovery.path
    }

    /// The session of the request, which may be idle. Throws if there is none.
    private func confirming(_ context: RequestScope) async throws -> AccountSession {
        guard let token = context.credentials.token(of: AccountSession.self) else { throw Problem.noSession }
        return try await sessions.findEvenIfIdle(token)
    }

    private func confirmationForm(_ next: String, of session: AccountSession) -> FormPage {
        FormPage(
            title: .confirmTitle,
            text: [.confirmText],
            action: "/account/confirm",
            fields: [FormPage.password("password", .password)],
            hidden: [("next", Self.pagesNeedingConfirmation[next] == nil ? "" : next)],
            accountName: session.account.username ?? session.account.email,
            button: .goOn,
            back: session.isIdle ? nil : "/account",
            isOfAccount: true,
            links: recovery
        )
    }

    @Sendable func confirm(_ request: Request, _ context: RequestScope) async throws -> Response {
        let next = context.answers["next"]?.json?.string ?? ""
        let current = try await confirming(context)
        var (context, target) = ReturnTarget.taken(from: context, among: returnTargets)
        context.answers = Answers(context.answers.members.filter { $0.name != "next" })
        let page = Self.pagesNeedingConfirmation[next].map { target.carried(by: $0) }
        return try await answering(context, next: page, then: target) { [context] in
            var answer = try await session.confirm(request, context)
            // If the flow requires an authenticator app and the account has none, the answer names the page that sets
            // one up as the next. But the page that needs the confirmation comes first.
            answer.json = nil
            return answer
        } orShow: { _ in
            confirmationForm(next, of: current)
        }
    }
}
