/// The counters and histograms of a running service. The code that does the work updates them.
package final class Metrics: Sendable {
    package let requests = Histogram(
        "accounts_http_request_duration_seconds",
        "From a request's header to its answer.",
        labels: ["method", "route", "status"]
    )
    let groups = Histogram(
        "accounts_lane_group_size",
        "Statements that shared one round trip to PostgreSQL.",
        labels: ["lane"],
        bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256]
    )
    let exchanges = Histogram(
        "accounts_lane_exchange_duration_seconds",
        "One round trip to PostgreSQL, from the first statement sent to the last answer.",
        labels: ["lane"]
    )
    let hashes = Histogram("accounts_hash_duration_seconds", "One password on a worker, without its wait.")
    let hashesRefused = Counter(
        "accounts_hash_refused_total",
        "Passwords refused because the queue was full, or the wait too long."
    )
    let images = Histogram("accounts_image_duration_seconds", "One image in its process, without its wait.")
    let imagesRefused = Counter("accounts_image_refused_total", "Images refused because too many waited.")
    let mails = Counter(
        "accounts_mail_attempts_total",
        "Attempts to deliver a mail.",
        labels: ["outcome"],
        from: [["dead"], ["delivered"], ["postponed"]]
    )
    let limits = Counter(
        "accounts_limits_reached_total",
        "Refusals by a limit.",
        labels: ["limit"],
        from: Limits.Name.allCases.map { [$0.rawValue] } + [["handoff"], ["resend"], ["revisions"]]
    )
    let erased = Counter("accounts_reaper_erased_total", "What has had its time and is gone.", labels: ["what"])
    let failures = Counter(
        "accounts_upkeep_failures_total",
        "Times that the database refused what is done beside the sign-ups, or was away.",
        labels: ["what"],
        from: [["funnel"], ["outbox"], ["partitions"], ["reaper"]]
    )
    let sweeps = Histogram(
        "accounts_reaper_sweep_duration_seconds",
        "One look at everything that may have had its time."
    )
    let funnel = Counter(
        "accounts_funnel_total",
        "What became of people at a step; `code` says why an answer was refused.",
        labels: ["flow", "step", "outcome", "code"]
    )

    package init() {}

    var families: [Family] {
        let all: [any Metric] = [
            requests, groups, exchanges, hashes, hashesRefused, images, imagesRefused, mails, limits, erased, failures,
            sweeps, funnel,
        ]
        return all.map(\.family)
    }
}
