/// The counters and histograms of a running service. The code that does the work updates them. Most gauges are in
/// `Monitor.swift` and `EventCensus.swift`; ``HashingPool`` and ``Database`` have further ones.
package final class Metrics: Sendable {
    package let steps = Histogram(
        "accounts_step_duration_seconds",
        "Time of a submission of a step of a sign-up, a recovery or a change of address.",
        labels: ["step", "outcome"]
    )
    package let requests = Histogram(
        "accounts_http_request_duration_seconds",
        "Time from the header of a request to the response.",
        labels: ["method", "route", "status"]
    )
    let groups = Histogram(
        "accounts_lane_group_size",
        "Single statements and transactions that shared one round trip to PostgreSQL.",
        labels: ["lane"],
        bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256]
    )
    let exchanges = Histogram(
        "accounts_lane_exchange_duration_seconds",
        "Time of one round trip to PostgreSQL, from the first statement sent to the last result.",
        labels: ["lane"]
    )
    let hashes = Histogram("accounts_hash_duration_seconds", "Time of one password on a worker, without its wait.")
    let hashesRefused = Counter(
        "accounts_hash_refused_total",
        "Passwords refused because the queue was full, the wait too long, another network needed the place, "
            + "or the request reached its deadline."
    )
    let images = Histogram("accounts_image_duration_seconds", "Time of one image in its process, without its wait.")
    let imagesRefused = Counter(
        "accounts_image_refused_total",
        "Images refused because the queue was full, the wait too long, another network needed the place, "
            + "or the request reached its deadline."
    )
    let mails = Counter(
        "accounts_mail_attempts_total",
        "Attempts to deliver a mail.",
        labels: ["outcome"],
        from: [["dead"], ["delivered"], ["postponed"], ["printed"]]
    )
    let events = Counter(
        "accounts_event_attempts_total",
        "Attempts to deliver an event to a webhook.",
        labels: ["outcome"],
        from: [["delivered"], ["failed"], ["postponed"]]
    )
    let logouts = Counter(
        "accounts_logout_attempts_total",
        "Attempts to tell an application of a logout.",
        labels: ["outcome"],
        from: [["delivered"], ["failed"], ["postponed"]]
    )
    let limits = Counter(
        "accounts_limits_reached_total",
        "Requests refused by a rate limit.",
        labels: ["limit"],
        from: Limits.allNames.map { [$0] }
    )
    let signIns = Counter(
        "accounts_sign_ins_total",
        "Attempts to sign in with a password. If this server cannot check the hash, an attempt counts as `failed` and "
            + "`uncheckable`. A confirmation whose hash needs too much memory counts as `uncheckable` only.",
        labels: ["outcome"],
        from: [["code-required"], ["failed"], ["succeeded"], ["uncheckable"]]
    )
    let erased = Counter("accounts_reaper_erased_total", "Erased drafts, rows and partitions.", labels: ["what"])
    let failures = Counter(
        "accounts_upkeep_failures_total",
        "Runs of background work that failed because the database refused it or was unavailable.",
        labels: ["what"],
        from: [["events"], ["funnel"], ["imported"], ["outbox"], ["partitions"], ["reaper"]]
    )
    let sweeps = Histogram(
        "accounts_reaper_sweep_duration_seconds",
        "Time of one sweep for expired data."
    )
    let signups = Counter(
        "accounts_signups_total",
        "Sign-ups that were started, on a page or by a program, and those that became accounts.",
        labels: ["outcome"],
        from: [["completed"], ["started"]]
    )
    let funnel = Counter(
        "accounts_funnel_total",
        "Outcomes at a step; `code` is the reason for a refusal.",
        labels: ["flow", "step", "outcome", "code"]
    )

    package init() {}

    var families: [Family] {
        let all: [any Metric] = [
            requests, steps, groups, exchanges, hashes, hashesRefused, images, imagesRefused, mails, events, logouts,
            limits,
            signIns,
            erased, failures, sweeps, signups, funnel,
        ]
        return all.map(\.family)
    }
}
