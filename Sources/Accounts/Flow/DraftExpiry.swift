internal import Foundation

/// The lifetimes of a draft that is not committed. For a sign-up, the mapping `draft` of the flow file sets them.
package struct DraftExpiry: Sendable {
    /// The lifetime after the last change, from one minute to 30 days; 24 hours by default.
    package let idle: Duration
    /// The lifetime after the start, even if the draft is changed, from one minute to 90 days; 7 days by default.
    package let absolute: Duration

    /// The lifetimes of a draft that changes an account. They are long enough to find the mail with the code and to
    /// open the authenticator app. They are short, because another person who uses a browser in which a recovery is
    /// open could choose the new password.
    static let ofChange = DraftExpiry(idle: .seconds(1800), absolute: .seconds(3600))

    private init(idle: Duration, absolute: Duration) {
        (self.idle, self.absolute) = (idle, absolute)
    }

    /// - Parameter file: the outermost mapping of the flow file.
    init(in file: inout YAMLEntry) throws(YAMLFileError) {
        var entry = try file.entry("draft")
        idle = try entry?.duration("idle", in: .minutes(1) ... .days(30)) ?? .days(1)
        absolute = try entry?.duration("absolute", in: .minutes(1) ... .days(90)) ?? .days(7)
        try entry?.finish()
        if idle > absolute {
            throw file.error(
                "\"idle\" (24h by default) must not be longer than \"absolute\" (7d by default)",
                at: "draft"
            )
        }
    }
}

extension Flow {
    /// An SQL expression over the columns of `drafts`: the time when the draft expires if it is not changed any more.
    var deadline: SQL {
        let idle = purpose == .signup ? idleTime : "make_interval(secs => \(expiry.idle.seconds))"
        return "least(drafts.ends_at, drafts.updated_at + \(idle))"
    }

    /// An SQL expression over the columns of `drafts`: the idle time of a sign-up, or of a change of an account. The
    /// ``Reaper``, which erases expired drafts, and the operator commands use the flow of the sign-up for the drafts of
    /// all flows. Only the flow of a change has a slash in its id (``FlowPurpose/prefix``).
    private var idleTime: SQL {
        """
        make_interval(secs => CASE WHEN drafts.flow LIKE '%/%' THEN \(DraftExpiry.ofChange.idle.seconds)
                                   ELSE \(expiry.idle.seconds) END)
        """
    }
}

extension Signups {
    /// The time until the draft expires even if it is changed, rounded up to whole seconds; at least one second.
    package func remainingLife(of draft: Draft) -> Duration {
        .seconds(max(1, Int(draft.endsAt.timeIntervalSince(draft.now).rounded(.up))))
    }
}

extension Duration {
    fileprivate static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
    fileprivate static func days(_ count: Int) -> Duration { .seconds(86_400 * count) }
}
