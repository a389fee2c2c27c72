import Accounts

/// The switches have no `default`, so that the compiler requires an explanation of each new problem type.
extension ProblemKind {
    var explanation: Explanation {
        switch self {
        case .malformedRequest:
            Explanation(
                meaning: """
                    The server cannot read the request. Usually the body is not valid JSON or not a valid form: a \
                    duplicate name, a trailing comma, text that is not UTF-8, U+0000, a lone surrogate, a hundred \
                    combining marks in a row, more than 32 levels, or more than 1000 values. An `If-Match` without an \
                    entity tag, two different tokens in one request, a missing, repeated or invalid `Host`, and an \
                    address or a header field with more than 30 combining marks in a row are malformed, too.
                    """,
                remedy: "Correct the request; `detail` names the fault. The same request will fail again."
            )
        case .noDraft:
            Explanation(
                meaning:
                    "The request needs a sign-up, but it carries no token, or a token that this service does not know.",
                remedy: """
                    Send the token, as the cookie or as `Authorization: Bearer`. If it is lost, begin a new sign-up; \
                    `restart` says how.
                    """
            )
        case .noSession:
            Explanation(
                meaning: """
                    The request needs a session, or a sign-in that waits for a code, but its token is missing or gives \
                    access to neither. `reason` is `idle` if only the password revives the session; `authenticator`, \
                    only for a proxy that asks at `/session/check`, if the account of the session lacks the \
                    authenticator app that the flow requires; and otherwise `unknown`, for example if the session has \
                    ended.
                    """,
                remedy: """
                    Sign in with `POST /session`. An idle session continues after `PUT /session/confirm` with the \
                    password. `PUT /account/totp` sets up an authenticator app.
                    """
            )
        case .signInFailed:
            Explanation(
                meaning: """
                    The address or username and the password do not belong together. The answer is the same if \
                    there is no such account, if it is disabled, or if the server cannot check its password.
                    """,
                remedy: "Ask for both again. Do not tell the person which one is wrong: the answer does not say it."
            )
        case .codeRequired:
            Explanation(
                meaning: """
                    Too many passwords or second factors were wrong on this device. On devices that the account does \
                    not know, wrong ones are counted together, by client network and in all. Or an operator has \
                    removed a lost authenticator app. So this device needs a mailed code first.
                    """,
                remedy: "Send `POST /session/code` with the same identifier, ask for the code, and try again after it."
            )
        case .confirmationRequired:
            Explanation(
                meaning: """
                    The request changes the address of the account or what protects the account, exports the \
                    account, or erases it, and the person has not proved within the last ten minutes who they are. The \
                    commit of a change of the address needs a proof within the last 80 minutes.
                    """,
                remedy: "Send `PUT /session/confirm` with the password or a second factor, then the same request again."
            )
        case .factorRequired:
            Explanation(
                meaning: """
                    The flow requires an authenticator app of every account, so it cannot be removed. Passwords of \
                    such a flow may be too short to be the only factor.
                    """,
                remedy: "Set up another app in place of this one with `PUT /account/totp`."
            )
        case .forbiddenOrigin:
            Explanation(
                meaning: """
                    The request can change something, and it comes from another site, or from a form whose site is \
                    unknown. The refusal protects the cookie against cross-site request forgery.
                    """,
                remedy: """
                    Send the request from a page of the service, or add the origin to `ALLOWED_ORIGINS`. A client that \
                    is not a browser can use a bearer token, which is not bound to an origin.
                    """
            )
        case .unknownStep:
            Explanation(
                meaning: """
                    The flow has no step of this name; or, below `/account`, the step is not one that people can \
                    change in their account.
                    """,
                remedy: """
                    Take the names of the steps from `GET /signup/schema` or from `steps` of the draft. After a change \
                    of the flow a step may be gone: continue at `next` of the draft.
                    """
            )
        case .notFound:
            Explanation(
                meaning: """
                    No resource has this path, or the resource does not exist: for example, the step has no code \
                    or no such image field, the field holds no image, the account has no such session, photo or \
                    factor, the account has no address to change, the flow proves no address to which a link can be \
                    mailed, or the link is incomplete. A session with one factor also gets this answer if it would \
                    replace or remove an authenticator app or replace recovery codes.
                    """,
                remedy: "Check the path. `GET /openapi.json` lists the paths of the flow that the server has loaded."
            )
        case .methodNotAllowed:
            Explanation(
                meaning: "The path exists, but does not take this method.",
                remedy: "Use one of the methods in `Allow`."
            )
        case .notAcceptable:
            Explanation(
                meaning: "`Accept` permits neither JSON nor, where the resource has a page, HTML.",
                remedy: "Send `Accept: application/json`, `Accept: text/html`, or no `Accept` at all."
            )
        case .stepLocked:
            Explanation(
                meaning: """
                    The step is not reachable: an earlier required step is not complete, or the step is left out, \
                    such as the second factor in the recovery of an account that has none. A link to another device \
                    needs a proved address first.
                    """,
                remedy: "Show the step that `next` names, and come back when it is complete."
            )
        case .incomplete:
            Explanation(
                meaning: """
                    The sign-up cannot be committed: a required step has no valid answer, or a step holds a value that \
                    the flow does not accept any more or the server cannot read.
                    """,
                remedy: "Show the step that `next` names. `missing` lists the required fields that have no valid value."
            )
        case .alreadyCommitted:
            Explanation(
                meaning: "The sign-up has become an account. Its steps cannot be read or changed any more.",
                remedy: """
                    `GET /signup` has the account; `GET /recovery` and `GET /email-change` do not. `POST /signup` \
                    begins a new sign-up.
                    """
            )
        case .identifierTaken:
            Explanation(
                meaning: """
                    Another account has the same e-mail address or username, or has left this address not long ago. \
                    The service reports a taken address only here, at the commit, after the person has proved the \
                    address. The rest of the sign-up is kept.
                    """,
                remedy: """
                    Ask for another value of the field that `field` names, and commit again. A new e-mail address \
                    needs a new code. A person whose address has an account can probably sign in instead.
                    """
            )
        case .draftExpired:
            Explanation(
                meaning: """
                    The sign-up of the token has ended. `reason` says why: `expired`, `cancelled`, `superseded`, \
                    `continued-elsewhere` (it was moved to another device, or another sign-up that has verified the \
                    same address has taken its username), or `account-erased` (it became an account, which was \
                    deleted). A sign-up is `superseded` when another sign-up that has verified the same address is \
                    committed. A recovery or a change of the address is `superseded` if what protects the account \
                    has changed, or if the account was disabled or erased. A change of the address is also \
                    `superseded` if its session has ended or this client cannot confirm it, or if the address of the \
                    account has changed meanwhile.
                    """,
                remedy: """
                    Begin a new sign-up; `restart` says how. After `continued-elsewhere`, continue on the other \
                    device.
                    """
            )
        case .staleRevision:
            Explanation(
                meaning: """
                    The sign-up is at another revision than the one in `If-Match`, or the form of a code was made \
                    for an earlier address. Nothing was changed.
                    """,
                remedy: """
                    Compare with `draft`, which is the sign-up as it is now, and send the request again with the \
                    `ETag` of this answer or without `If-Match`.
                    """
            )
        case .tooLarge:
            Explanation(
                meaning: """
                    The body is longer than the resource accepts: 65536 bytes; for an image 5 MiB; for a form with \
                    images 5 MiB for each image field of the step and 65536 bytes for the rest. A form for \
                    `/oauth/authorize` or `/oauth/logout` becomes a query, so it must have less than 8192 bytes with \
                    the path.
                    """,
                remedy: "Send a smaller body. Scale an image down before the upload."
            )
        case .uriTooLong:
            Explanation(
                meaning: "The path with its query is longer than 8192 bytes.",
                remedy: "Send data in the body, not in the path."
            )
        case .headersTooLarge:
            Explanation(
                meaning: "The header of the request has more than 16384 bytes or more than 100 fields.",
                remedy: """
                    Send fewer or shorter header fields. In a browser, delete cookies of other applications on this \
                    host.
                    """
            )
        case .unsupportedMediaType:
            Explanation(
                meaning: """
                    The resource does not read bodies of this `Content-Type`, of this charset, or with a \
                    `Content-Encoding`. In the last case, the answer has `Accept-Encoding: identity`.
                    """,
                remedy: "Send one of the media types in `Accept` of the answer, in UTF-8 and not compressed."
            )
        case .validationFailed:
            Explanation(
                meaning: "Some answers are not valid. `errors` names all of them. Nothing was changed.",
                remedy: """
                    Show each `message` at the field that `field` names, and send the step again. The field codes say \
                    what each `code` means.
                    """
            )
        case .rateLimited:
            Explanation(
                meaning: """
                    A limit is reached, for this sign-up, this account, this client network, this e-mail address \
                    or all mails. `RateLimit-Policy` has its name, and how often (`q`) within how many seconds \
                    (`w`) the service permits the action. An answer without `RateLimit-Policy` and `RateLimit` \
                    means that too many requests of this client network are being answered at the same time.
                    """,
                remedy: """
                    Wait as many seconds as `Retry-After` says, and send the request again. At the limit `revisions` \
                    the sign-up cannot be changed any more: commit it if it is complete, or begin a new one. At the \
                    limit `app_guesses_for_account` of a recovery, a recovery code needs no wait.
                    """
            )
        case .busy:
            Explanation(
                meaning: """
                    The server has too many passwords or images to process, this client network uploads too many \
                    images at once, or the server is stopping. Nothing was changed.
                    """,
                remedy: "Wait as many seconds as `Retry-After` says, and send the same request again."
            )
        case .unavailable:
            Explanation(
                meaning: """
                    The service cannot do its work at the moment: the database is unavailable or overloaded, no image \
                    can be processed, too many requests change one sign-up at once, the server lacks a key that the \
                    request needs, or the server is stopping. Saved answers are not lost.
                    """,
                remedy: """
                    Wait as many seconds as `Retry-After` says, and send the same request again. The first request \
                    may have had an effect: `GET` the sign-up before you repeat a request that causes a mail or \
                    sends a code.
                    """
            )
        case .internal:
            Explanation(
                meaning: "An unexpected error occurred. The answer does not contain its cause.",
                remedy: """
                    Try again later. If it persists, give the `request_id` to the operator: the log has the cause \
                    under it.
                    """
            )
        }
    }

    /// The members of the body in addition to those of every problem, in order.
    var members: [String] {
        switch self {
        case .noDraft: ["restart"]
        case .noSession: ["next", "reason"]
        case .codeRequired, .confirmationRequired: ["next"]
        case .stepLocked: ["next"]
        case .incomplete: ["missing", "next"]
        case .identifierTaken: ["field"]
        case .draftExpired: ["reason", "restart"]
        case .staleRevision: ["draft"]
        case .validationFailed: ["errors"]
        case .rateLimited, .busy, .unavailable, .internal: ["message"]
        case .signInFailed, .factorRequired, .malformedRequest, .forbiddenOrigin, .unknownStep, .notFound,
            .methodNotAllowed,
            .notAcceptable,
            .alreadyCommitted, .tooLarge, .uriTooLong, .headersTooLarge, .unsupportedMediaType:
            []
        }
    }

    /// The header fields of the answer, in addition to those of every answer.
    var headers: [String] {
        switch self {
        case .noDraft, .noSession, .signInFailed, .codeRequired: ["WWW-Authenticate"]
        case .methodNotAllowed: ["Allow"]
        case .staleRevision: ["ETag"]
        case .unsupportedMediaType: ["Accept"]
        case .rateLimited: ["Retry-After", "RateLimit-Policy", "RateLimit"]
        case .busy, .unavailable: ["Retry-After"]
        case .confirmationRequired, .factorRequired, .malformedRequest, .forbiddenOrigin, .unknownStep, .notFound,
            .notAcceptable,
            .stepLocked, .incomplete, .alreadyCommitted, .identifierTaken, .draftExpired, .tooLarge, .uriTooLong,
            .headersTooLarge,
            .validationFailed, .internal:
            []
        }
    }
}
