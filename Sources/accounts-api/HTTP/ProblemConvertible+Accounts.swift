import Accounts
import HTTPTypes
import Hummingbird
import Logging

// The problems for the errors of the library. No switch has a `default`, so the compiler requires a decision for each
// new case. A case that only wraps another error becomes the problem of that error.

extension DatabaseError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .unavailable, .outcomeUnknown:
            Problem(
                .unavailable,
                "The database is unavailable. Saved answers are not lost. Try again in a moment.",
                headers: [.retryAfter: "1"]
            )
        case .refused where isTemporary: overloaded(context.logger)
        case .cancelled: .cancelled
        case .refused, .unexpectedAnswer: nil
        }
    }

    /// Returns a problem that tells the client to try again. Logs the reason for the operator, because it can be a full
    /// disk.
    private func overloaded(_ logger: Logger) -> Problem {
        logger.warning("database overloaded", metadata: ["reason": "\(self)"])
        return Problem(
            .unavailable,
            "The database cannot process the request at the moment. Try again in a moment.",
            headers: [.retryAfter: "2"]
        )
    }
}

extension HashingError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .rejected(let error):
            .busy(error, "Too many passwords are being checked or hashed. Try again in a moment.")
        case .unknownPepper: unknownPepper(context.logger)
        case .tooCostly, .argon2: nil
        }
    }
}

extension HashingError {
    /// Logs that no key has the pepper of a password hash, and returns a temporary problem: another server, or this one
    /// after its key ring is repaired, may be able to verify the password.
    private func unknownPepper(_ logger: Logger) -> Problem {
        logger.error("no key in the key ring has the pepper of a password hash")
        return .keysMissing
    }
}

extension ImageError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .rejected(let error): .busy(error, "Too many images are being processed. Try again in a moment.")
        case .noWorker:
            Problem(
                .unavailable,
                "Images cannot be processed at the moment. Try again in a moment.",
                headers: [.retryAfter: "5"]
            )
        case .fault: nil
        }
    }
}

extension MalformedBody: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        Problem(.malformedRequest, "The body is malformed: \(self).")
    }
}

extension StartError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .limited(let reached): .limited(reached)
        case .database(let error): context.problem(for: error)
        }
    }
}

extension FindError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .unknown: .noDraft(in: context.flow.purpose)
        case .ended(let ending): .draftExpired(ending, in: context.flow.purpose)
        case .unreadable(let id): context.unreadable(.draft(id))
        case .database(let error): context.problem(for: error)
        }
    }
}

extension SubmitError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .locked(let next): .locked(next, of: context.flow)
        case .refused(let refusals): .refused(refusals, in: context.language, of: context.flow)
        case .limited(let reached): .limited(reached)
        case .stale(let current): context.stale(current)
        case .committed: .committed(in: context.flow.purpose)
        case .unreadableAuthenticator(let account): context.unreadable(.authenticator(of: account))
        case .contended: .contended
        case .find(let error as any Error), .hashing(let error as any Error), .image(let error as any Error),
            .database(let error as any Error):
            context.problem(for: error)
        }
    }
}

extension CheckError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .locked(let next): .locked(next, of: context.flow)
        case .committed: .committed(in: context.flow.purpose)
        case .limited(let reached): .limited(reached)
        case .hashing(let error as any Error), .database(let error as any Error): context.problem(for: error)
        }
    }
}

extension ResendError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .locked(let next): .locked(next, of: context.flow)
        case .noCode: Problem(.notFound, "The step has no field of kind \"code\".")
        case .refused(let refusals): .refused(refusals, in: context.language, of: context.flow)
        case .limited(let reached): .limited(reached)
        case .committed: .committed(in: context.flow.purpose)
        case .stale(let current): context.stale(current)
        case .contended: .contended
        case .find(let error as any Error), .database(let error as any Error): context.problem(for: error)
        }
    }
}

extension CancelError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .committed: .committed(in: context.flow.purpose)
        case .stale(let current): context.stale(current)
        case .find(let error as any Error), .database(let error as any Error): context.problem(for: error)
        }
    }
}

extension CommitError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .incomplete(let progress):
            Problem(
                .incomplete,
                "A required step is incomplete, or a step has an invalid value. Continue with the step in \"next\".",
                [
                    .init("missing", .array(progress.missing.map { .string($0.rawValue) })),
                    .next(progress.next, of: context.flow),
                ]
            )
        case .confirmationRequired: .confirmationRequired
        case .finished: .committed(in: context.flow.purpose)
        case .identifierTaken(let field):
            Problem(
                .identifierTaken,
                """
                Another account has the value of the field in "field". Choose another value; the other answers are kept.
                """,
                [.init("field", .string(field.rawValue))]
            )
        case .stale(let current): context.stale(current)
        case .limited(let reached): .limited(reached)
        case .contended: .contended
        case .find(let error as any Error), .database(let error as any Error): context.problem(for: error)
        }
    }
}

extension HandoffError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .noAddress: Problem(.notFound, "The flow verifies no e-mail address, so a link cannot be mailed.")
        case .addressNotProved(let next): .locked(next, of: context.flow)
        case .limited(let reached): .limited(reached)
        case .stale(let current): context.stale(current)
        case .committed: .committed(in: context.flow.purpose)
        case .contended: .contended
        case .find(let error as any Error), .database(let error as any Error): context.problem(for: error)
        }
    }
}

extension ResumeError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .invalidLink: .refused([Refusal("code", .codeExpired)], in: context.language)
        case .contended: .contended
        case .limited(let reached): .limited(reached)
        case .find(let error as any Error), .database(let error as any Error): context.problem(for: error)
        }
    }
}

extension RedeemError: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? {
        switch self {
        case .invalidTicket: .refused([Refusal("ticket", .codeExpired)], in: context.language)
        case .unreadable(let ticket): context.unreadable(.ticket(ticket))
        case .limited(let reached): .limited(reached)
        case .find(let error as any Error), .database(let error as any Error): context.problem(for: error)
        }
    }
}

// MARK: - Problems of several errors

extension ProblemContext {
    /// Logs that no key decrypts the value, and returns a temporary problem, so that the client keeps its token:
    /// another server, or this one after its key ring is repaired, may be able to decrypt the value.
    func unreadable(_ value: Unreadable) -> Problem {
        switch value {
        case .draft(let id):
            logger.error("no key in the key ring decrypts a draft", metadata: ["draft": "\(id)"])
        case .ticket(let id):
            logger.error("no key in the key ring decrypts a ticket", metadata: ["ticket": "\(id)"])
        case .authenticator(let account):
            logger.error("no key in the key ring decrypts an authenticator", metadata: ["account": "\(account)"])
        case .signIn(let id):
            logger.error("no key in the key ring decrypts a sign-in", metadata: ["sign_in": "\(id)"])
        case .leftAddress(let account):
            logger.error(
                "no key in the key ring decrypts an earlier address of an account",
                metadata: ["account": "\(account)"]
            )
        case .signingKey:
            logger.error("no key in the key ring decrypts the signing key")
        }
        return .keysMissing
    }
}

extension Problem {
    private static func restart(_ flow: FlowPurpose) -> JSON.Member {
        .init("restart", ["method": "POST", "href": .string(flow.path)])
    }

    static func noDraft(in flow: FlowPurpose) -> Problem {
        Problem(
            .noDraft,
            "The request has no valid token. Send the token of a \(flow.noun), or start a new \(flow.noun).",
            [restart(flow)],
            headers: [.wwwAuthenticate: "Bearer"]
        )
    }

    static let unknownStep = Problem(
        .unknownStep,
        "There is no step with this name, or it cannot be changed here. GET /signup/schema lists the steps of the sign-up."
    )

    static let noImageField = Problem(
        .notFound,
        "There is no image field with this name here. GET /signup/schema lists the fields."
    )

    static func draftExpired(_ ending: Termination, in flow: FlowPurpose) -> Problem {
        Problem(
            .draftExpired,
            "The \(flow.noun) has ended. Start a new one.",
            [.init("reason", .string(ending.rawValue)), restart(flow)]
        )
    }

    /// The problem of a request that needs a key which this server does not have.
    static let keysMissing = Problem(
        .unavailable,
        "The server lacks a key that this request needs. Saved answers are not lost. Try again in a moment.",
        headers: [.retryAfter: "5"]
    )

    /// The problem of a form with a code, if the address in the draft was replaced after the form was shown.
    static func addressIsOther(_ current: Draft, shownAs representation: JSON) -> Problem {
        Problem(
            .staleRevision,
            "The form belongs to an earlier address. The member \"draft\" has the current one.",
            [.init("draft", representation)],
            headers: [.eTag: "\"\(current.revision)\""]
        )
    }

    static func committed(in flow: FlowPurpose) -> Problem {
        Problem(.alreadyCommitted, "The \(flow.noun) is finished and cannot be changed.")
    }

    static func locked(_ next: Step?, of flow: Flow) -> Problem {
        Problem(
            .stepLocked,
            "An earlier step is not complete. Continue with the step in \"next\".",
            [.next(next, of: flow)]
        )
    }

    /// - Parameter flow: the flow whose fields are refused; nil if the members of the body are not fields of a flow.
    static func refused(_ refusals: [Refusal], in language: Language, of flow: Flow? = nil) -> Problem {
        Problem(
            .validationFailed,
            "Some answers are not valid. Nothing was changed.",
            [.init("errors", .array(refusals.map { $0.json(in: language, of: flow) }))]
        )
    }

    /// The problem of an exceeded rate limit, with the header fields `RateLimit-Policy` and `RateLimit`
    /// (draft-ietf-httpapi-ratelimit-headers).
    static func limited(_ reached: LimitReached) -> Problem {
        let (name, wait) = (reached.name, reached.wait.seconds)
        var problem = Problem(
            .rateLimited,
            "The rate limit is exceeded. Try again after the time in Retry-After.",
            headers: [
                .retryAfter: "\(wait)",
                .rateLimitPolicy: "\"\(name)\";q=\(reached.limit.count);w=\(reached.limit.period.seconds)",
                .rateLimit: "\"\(name)\";r=0;t=\(wait)",
            ]
        )
        problem.limit = name
        return problem
    }

    static let contended = Problem(
        .unavailable,
        "Too many requests change the same draft at the same time. Try again in a moment.",
        headers: [.retryAfter: "1"]
    )

    static let cancelled = Problem(.unavailable, "The request was cancelled.", headers: [.retryAfter: "1"])

    /// The problem of a request whose work a worker pool has rejected.
    static func busy(_ error: WorkRejection, _ detail: String) -> Problem {
        switch error {
        case .busy(let wait): Problem(.busy, detail, headers: [.retryAfter: "\(wait.seconds + 1)"])
        case .stopped: Problem(.busy, "The server is stopping. Try again in a moment.", headers: [.retryAfter: "1"])
        case .cancelled: .cancelled
        }
    }
}

extension Refusal {
    /// One entry of `errors`: the field, the reason, and the message for the person.
    func json(in language: Language, of flow: Flow?) -> JSON {
        // RFC 6901: a pointer escapes ~ and /. In a Character, one of them may stand together with a mark.
        let escaped = field.rawValue.unicodeScalars.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }
        let pointer = "#/" + escaped.joined()
        return [
            "pointer": .string(pointer), "field": .string(field.rawValue), "code": .string(code.rawValue),
            "params": .object(params.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }),
            "message": .string(message(in: language, of: flow)),
        ]
    }
}

extension JSON.Member {
    /// The member `next` of an answer: where the person continues. It names the step, or the review if the step is nil.
    static func next(_ step: Step?, of flow: Flow) -> JSON.Member {
        .init(
            "next",
            ["step": .string(step?.name.rawValue ?? "review"), "href": .string(step?.href ?? flow.reviewPath)]
        )
    }
}
