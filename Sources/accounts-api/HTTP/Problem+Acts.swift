import Accounts
import HTTPTypes
import Hummingbird

/// How each act's refusals look on the wire. No `default`: a new case asks what the client should see.
extension Problem {
    static let restart = JSON.Member("restart", ["method": "POST", "href": "/signup"])

    init(_ error: DatabaseError) throws {
        switch error {
        case .unavailable, .outcomeUnknown:
            self.init(
                .unavailable,
                "Nothing you saved is lost. Try again in a moment.",
                headers: [.retryAfter: "1"]
            )
        case .refused(let diagnosis) where ["57014", "55P03", "53300", "53400"].contains(diagnosis.sqlState):
            // Statement or lock time-out, too many connections, configuration limit: the server is overloaded.
            self.init(
                .unavailable,
                "The database is overloaded. Try again in a moment.",
                headers: [.retryAfter: "2"]
            )
        case .cancelled: throw CancellationError()
        case .refused, .unexpectedAnswer: throw error
        }
    }

    init(_ error: StartError) throws {
        switch error {
        case .limited(let reached): self = .limited(reached)
        case .database(let error): try self.init(error)
        }
    }

    init(_ error: FindError) throws {
        switch error {
        case .unknown: self = .noDraft
        case .ended(let ending):
            self.init(
                .draftExpired,
                "This sign-up is over.",
                [.init("reason", .string(ending.rawValue)), Self.restart]
            )
        case .unreadable:
            // Sealed with a key that is gone, it is gone too.
            self.init(
                .draftExpired,
                "This sign-up cannot be read any more.",
                [.init("reason", "unreadable"), Self.restart]
            )
        case .database(let error): try self.init(error)
        }
    }

    static let noDraft = Problem(
        .noDraft,
        "Send the token of a sign-up, or begin one.",
        [restart],
        headers: [.wwwAuthenticate: "Bearer"]
    )

    init(_ error: SubmitError, in language: Language, _ draft: (Draft) -> JSON) throws {
        switch error {
        case .locked(let next): self = .locked(next)
        case .refused(let refusals): self = .refused(refusals, in: language)
        case .limited(let reached): self = .limited(reached)
        case .stale(let current): self = .stale(current, draft)
        case .committed: self = .committed
        case .find(let error): try self.init(error)
        case .hashing(let error): try self.init(error)
        case .image(let error): try self.init(error)
        case .contended: self = .contended
        case .database(let error): try self.init(error)
        }
    }

    init(_ error: CheckError) throws {
        switch error {
        case .locked(let next): self = .locked(next)
        case .committed: self = .committed
        case .limited(let reached): self = .limited(reached)
        case .database(let error): try self.init(error)
        }
    }

    init(_ error: HashingError) throws {
        switch error {
        case .unserved(let error): try self.init(error, "Too many passwords are being hashed. Try again in a moment.")
        case .tooCostly, .argon2: throw error
        }
    }

    init(_ error: ImageError) throws {
        switch error {
        case .unserved(let error): try self.init(error, "Too many images come at once. Try again in a moment.")
        case .noWorker:
            self.init(.unavailable, "No image can be read at the moment. Try again.", headers: [.retryAfter: "5"])
        case .fault: throw error
        }
    }

    private init(_ error: Unserved, _ detail: String) throws {
        switch error {
        case .busy(let wait): self.init(.busy, detail, headers: [.retryAfter: "\(wait.seconds + 1)"])
        case .stopped: self.init(.busy, detail, headers: [.retryAfter: "1"])
        case .cancelled: throw CancellationError()
        }
    }

    init(_ error: ResendError, in language: Language, _ draft: (Draft) -> JSON) throws {
        switch error {
        case .locked(let next): self = .locked(next)
        case .noCode: self.init(.notFound, "This step has no code.")
        case .refused(let refusals): self = .refused(refusals, in: language)
        case .limited(let reached): self = .limited(reached)
        case .committed: self = .committed
        case .stale(let current): self = .stale(current, draft)
        case .find(let error): try self.init(error)
        case .contended: self = .contended
        case .database(let error): try self.init(error)
        }
    }

    init(_ error: CancelError, _ draft: (Draft) -> JSON) throws {
        switch error {
        case .committed: self = .committed
        case .stale(let current): self = .stale(current, draft)
        case .find(let error): try self.init(error)
        case .database(let error): try self.init(error)
        }
    }

    init(_ error: CommitError, _ draft: (Draft) -> JSON) throws {
        switch error {
        case .incomplete(let standing):
            self.init(
                .incomplete,
                "Something is still missing.",
                [.init("missing", .array(standing.missing.map { .string($0.rawValue) })), .next(standing.next)]
            )
        case .stale(let current): self = .stale(current, draft)
        case .limited(let reached): self = .limited(reached)
        case .identifierTaken(let field):
            self.init(
                .identifierTaken,
                "Choose another one; the rest of the sign-up is kept.",
                [.init("field", .string(field.rawValue))]
            )
        case .find(let error): try self.init(error)
        case .contended: self = .contended
        case .database(let error): try self.init(error)
        }
    }

    init(_ error: HandoffError, _ draft: (Draft) -> JSON) throws {
        switch error {
        case .noAddress: self.init(.notFound, "This sign-up proves no address to which a link could go.")
        case .locked(let next): self = .locked(next)
        case .limited(let reached): self = .limited(reached)
        case .stale(let current): self = .stale(current, draft)
        case .committed: self = .committed
        case .find(let error): try self.init(error)
        case .contended: self = .contended
        case .database(let error): try self.init(error)
        }
    }

    init(_ error: ResumeError, in language: Language) throws {
        switch error {
        case .expired: self = .refused([Refusal("code", .codeExpired)], in: language)
        case .limited(let reached): self = .limited(reached)
        case .find(let error): try self.init(error)
        case .database(let error): try self.init(error)
        }
    }

    /// With the policy and what is left of it (draft-ietf-httpapi-ratelimit-headers).
    static func limited(_ reached: LimitReached) -> Problem {
        let (name, wait) = (reached.name, reached.wait.seconds)
        return Problem(
            .rateLimited,
            "This happened too often. Try again later.",
            headers: [
                .retryAfter: "\(wait)",
                .rateLimitPolicy: "\"\(name)\";q=\(reached.limit.count);w=\(reached.limit.period.seconds)",
                .rateLimit: "\"\(name)\";r=0;t=\(wait)",
            ]
        )
    }

    static func locked(_ next: Step?) -> Problem {
        Problem(.stepLocked, "An earlier step comes first.", [.next(next)])
    }

    static func stale(_ current: Draft, _ draft: (Draft) -> JSON) -> Problem {
        Problem(
            .staleRevision,
            "It is at another revision than the one you named.",
            [.init("draft", draft(current))],
            headers: [.eTag: "\"\(current.revision)\""]
        )
    }

    static let committed = Problem(.alreadyCommitted, "It has become an account and cannot be changed.")

    private static let contended = Problem(
        .unavailable,
        "Too many requests change this sign-up at once.",
        headers: [.retryAfter: "1"]
    )

    static func refused(_ refusals: [Refusal], in language: Language) -> Problem {
        Problem(
            .validationFailed,
            "Nothing was changed.",
            [.init("errors", .array(refusals.map { $0.json(in: language) }))]
        )
    }
}

extension Refusal {
    /// One of `errors`: where, why, and what to tell the person.
    func json(in language: Language) -> JSON {
        // RFC 6901: ~ and / have escapes in a pointer.
        let pointer = "#/" + field.rawValue.replacing("~", with: "~0").replacing("/", with: "~1")
        return [
            "pointer": .string(pointer), "field": .string(field.rawValue), "code": .string(code.rawValue),
            "params": .object(params.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }),
            "message": .string(language.messages.message(for: self)),
        ]
    }
}

extension JSON.Member {
    /// Where the person goes on: a step, or the review.
    static func next(_ step: Step?) -> JSON.Member {
        .init(
            "next",
            ["step": .string(step?.name.rawValue ?? "review"), "href": .string(step?.href ?? "/signup/review")]
        )
    }
}

extension HTTPField.Name {
    static let rateLimit = Self("RateLimit")!
    static let rateLimitPolicy = Self("RateLimit-Policy")!
    static let requestID = Self("X-Request-Id")!
    static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
    static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy")!
    static let permissionsPolicy = Self("Permissions-Policy")!
    static let referrerPolicy = Self("Referrer-Policy")!
    static let traceParent = Self("traceparent")!
    static let secFetchSite = Self("Sec-Fetch-Site")!
}
