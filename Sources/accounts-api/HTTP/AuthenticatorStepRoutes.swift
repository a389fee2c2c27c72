import Accounts
import HTTPTypes
import Hummingbird

/// The routes of two forms on the page of a step with a confirmed authenticator app. One form confirms that the person
/// has saved the recovery codes, the other removes the app.
struct AuthenticatorStepRoutes: Sendable {
    let site: FlowSite

    private var signups: Signups { site.signups }

    @Sendable func forgetCodes(_ request: Request, _ context: StepContext) async throws -> Answer {
        let outcome = try await signups.forgetRecoveryCodes(at: context.step, of: context.draft)
        return site.representations.answer(outcome.draft)
    }

    /// Clears the step. If the form has a non-empty member `skip`, also skips the step; otherwise leads a browser back
    /// to the step.
    @Sendable func remove(_ request: Request, _ context: StepContext) async throws -> Answer {
        let (step, network) = (context.step, context.network)
        let cleared = try await signups.clear(
            step,
            of: context.draft,
            at: request.expectedRevision(of: context.draft)
        )
        guard context.answers["skip"]?.isBlank == false else {
            return context.representation == .page
                ? Answer(json: ["next": ["href": .string(step.href)]])
                : site.representations.answer(cleared.draft, cleared: cleared.cleared)
        }
        let skipped = try await signups.from(network).submit(Answers(), to: step, of: cleared.draft)
        return site.representations.answer(skipped.draft, cleared: cleared.cleared)
    }
}

extension AuthenticatorStepRoutes {
    var operations: [Operation] {
        [
            .init(.post, "signup/:step/saved", .forgetRecoveryCodes, responses: [.ok: .draft], .step(forgetCodes)),
            .init(.post, "signup/:step/remove", .clearForm, responses: [.ok: .draft], .step(remove)),
        ]
    }
}

extension Operation.Act {
    static let forgetRecoveryCodes = Self(
        "forgetRecoveryCodes",
        "Confirms that the person has saved the recovery codes; the page of the step no longer shows them",
        problems: [.stepLocked, .alreadyCommitted, .rateLimited]
    )

    static let clearForm = Self(
        "clearForm",
        "The same as DELETE, for HTML forms; with `skip` the step is skipped as well",
        body: .form(secretMembers: []),
        problems: [.stepLocked, .alreadyCommitted, .staleRevision, .validationFailed, .rateLimited, .busy]
    )
}
