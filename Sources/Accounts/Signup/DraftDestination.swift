/// The application or page to which a person goes after the commit of a draft. The draft stores the destination, so it
/// is also known on another device. On another device, the person cannot go on with the request of an application, and
/// goes to the application's `initiate_login_uri` instead, if it has one.
package enum DraftDestination: Sendable {
    /// The application that has sent the request.
    case application(AuthorizationRequest)
    /// The URL of a page on one of the hosts in the setting `FORWARD_AUTH_HOSTS`. The caller has checked the URL.
    case page(String)
}

extension Values {
    /// Replaces an earlier destination.
    ///
    /// - Parameter tokenHash: the hash of the draft's token.
    mutating func set(_ destination: DraftDestination, tokenHash: [UInt8]) {
        switch destination {
        case .application(let request):
            (authorization, returnURL) = (DraftAuthorization(request, tokenHash: tokenHash), nil)
        case .page(let url): (authorization, returnURL) = (nil, url)
        }
    }
}

extension Draft {
    /// Whether storing this destination would change nothing but the time of the application's request.
    fileprivate func leads(to destination: DraftDestination) -> Bool {
        switch destination {
        case .application(let request): contains(request)
        case .page(let url): values.returnURL == url
        }
    }
}

extension Signups {
    /// Stores the destination in the open draft, in place of an earlier one. Does nothing if the draft can be changed
    /// only once more, or not at all (``Limits/revisions``).
    package func remember(_ destination: DraftDestination, in draft: Draft) async throws(SubmitError) -> Draft {
        try await retryingInTurn(draft) { (draft) throws(SubmitError) -> Draft? in
            guard draft.account == nil else { throw .committed }
            if draft.leads(to: destination) || draft.revision >= flow.limits.revisions { return draft }
            var values = draft.values
            values.set(destination, tokenHash: draft.tokenHash)
            let result = try await converting(to: SubmitError.databaseFailed) { () throws(DatabaseError) in
                try await write(Change(values: values), to: draft)
            }
            guard case .written(let new) = result else { return nil }
            // A draft from another version of the flow counts as having entered its current step.
            if draft.flow != flow.id { funnel.entered(new.step, of: flow) }
            return new
        }
    }
}

extension SubmitError {
    fileprivate static func databaseFailed(_ error: DatabaseError) -> SubmitError { .find(.database(error)) }
}
