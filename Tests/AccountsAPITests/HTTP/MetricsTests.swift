import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Metrics for Prometheus", .freshDatabase, .timeLimit(.minutes(30)))
struct MetricsTests {
    /// The values by name and labels, parsed by the client library of Prometheus.
    static func parse(_ text: String) async throws -> [String: Double] {
        let script = """
            import json, sys
            from prometheus_client.parser import text_string_to_metric_families as parse
            samples = [s for family in parse(sys.stdin.read()) for s in family.samples]
            print(json.dumps({s.name + "".join(f" {k}={v}" for k, v in sorted(s.labels.items())): s.value for s in samples}))
            """
        return try await onThread {
            let (input, output) = (Pipe(), Pipe())
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [ProcessInfo.processInfo.environment["PYTHON"] ?? "python3", "-c", script]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try input.fileHandleForWriting.close()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return try JSONDecoder().decode([String: Double].self, from: data)
        }
    }

    @Test func `a step that a page sends is measured, too`() async throws {
        try await TestServer.with { site in
            let steps = site.service.signups.metrics.steps
            func count(_ outcome: String) -> Double? {
                steps.family.samples.first {
                    $0.suffix == "_count" && $0.labels.map(\.value) == ["email", outcome]
                }?
                .value
            }
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup")
            let refused = try await kim.post("/signup", "\(first.hidden)&email=kim")
            #expect(refused.status == 422 && count("validation-failed") == 1 && count("accepted") == nil)
            let signups = site.service.signups.metrics.signups
            #expect(signups.family.samples.map(\.value) == [0, 1], "a refused first answer has started a sign-up")
            _ = try await kim.post("/signup", "\(first.hidden)&email=kim")
            #expect(try await kim.post("/signup/email", "email=kim%40example.com").path == "/signup/code")
            #expect(count("accepted") == 1)
            #expect(signups.family.samples.map(\.value) == [0, 1], "a form that is sent again starts nothing")
        }
    }

    @Test func `steps of recoveries and of changes of address are measured under names of their own`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            let other = Browser(site)
            try await other.recover()
            try await other.send(.put, "/recovery/password", ["password": "short", "confirmation": "short"])
            #expect(try await kim.post("/account/email", "email=kim%40example.net").path == "/email-change/code")
            _ = try await kim.post("/email-change/code", "code=\(site.service.readCode(for: "kim@example.net"))")
            var counts: [[String]: Double] = [:]
            for sample in site.service.signups.metrics.steps.family.samples where sample.suffix == "_count" {
                counts[sample.labels.map(\.value)] = sample.value
            }
            #expect(counts[["code", "accepted"]] == 1)
            let changes: [[String]: Double] = [
                ["recovery/email", "accepted"]: 1, ["recovery/code", "accepted"]: 1,
                ["recovery/password", "validation-failed"]: 1,
                ["email-change/email", "accepted"]: 1, ["email-change/code", "accepted"]: 1,
            ]
            #expect(counts.filter { $0.key[0].contains("/") } == changes)
        }
    }

    @Test func `a sign-up is counted, and the metrics contain no personal data`() async throws {
        let mails = Mails()
        let database = FreshDatabase.current.conninfo
        let server = try await ServerProcess.start(database: database, mails: mails)
        let kim = SignupClient("canary@nightingale.example", mails: mails)
        try await kim.begin(at: server.port)
        _ = try await kim.put("email", ["email": "canarybird"], at: server.port)
        for step in ["email", "code", "password", "profile", "contact", "terms"] {
            try await kim.step(step, at: server.port)
        }
        try await kim.createAccount(at: server.port)
        let other = SignupClient("lee@example.com", mails: mails)
        try await other.begin(at: server.port)

        // A scrape returns the values that were refreshed after the previous scrape, if the database has answered in time.
        var (text, numbers) = ("", [String: Double]())
        repeat {
            text = try await server.metrics()
            numbers = try await Self.parse(text)
        } while numbers["accounts_drafts state=open"] != 1
        let requests = "accounts_http_request_duration_seconds_count"
        for (name, number) in [
            "\(requests) method=POST route=/signup status=201": 2,
            "\(requests) method=PUT route=/signup/{step} status=200": 6,
            "\(requests) method=PUT route=/signup/{step} status=422": 1,
            "accounts_step_duration_seconds_count outcome=accepted step=email": 1,
            "accounts_step_duration_seconds_count outcome=validation-failed step=email": 1,
            "accounts_step_duration_seconds_count outcome=accepted step=terms": 1,
            "accounts_signups_total outcome=started": 2, "accounts_signups_total outcome=completed": 1,
            "accounts_hash_duration_seconds_count": 1, "accounts_hash_refused_total": 0,
            "accounts_mail_attempts_total outcome=delivered": 0,
            "accounts_hash_queue_depth": 0, "accounts_hash_queue_capacity": 1000, "accounts_census_up": 1,
            "accounts_hash_running": 0, "accounts_database_up": 1,
            "accounts_lanes_up lane=grouped": 2, "accounts_lanes_up lane=alone": 3,
            "accounts_lane_queue_depth lane=grouped": 0, "accounts_drafts state=open": 1,
            "accounts_drafts state=review": 0, "accounts_drafts state=expired": 0, "accounts_reaper_backlog": 0,
            "accounts_reaper_backlog_seconds": 0,
            "accounts_funnel_total code= flow=default@1 outcome=completed step=email": 1,
            "accounts_funnel_total code=bad_format flow=default@1 outcome=refused step=email": 1,
            "accounts_funnel_total code= flow=default@1 outcome=entered step=email": 2,
            "accounts_build_info flow=default@1 version=\(serviceVersion)": 1,
        ] as [String: Double] {
            #expect(numbers[name] == number, "\(name)")
        }
        for name in [
            "process_resident_memory_bytes", "process_open_fds", "process_max_fds", "process_cpu_seconds_total",
            "process_start_time_seconds", "accounts_lane_group_size_count lane=grouped",
            "accounts_lane_exchange_duration_seconds_sum lane=alone", "accounts_mail_attempts_total outcome=printed",
        ] {
            #expect(numbers[name] ?? 0 > 0, "\(name)")
        }
        for word in ["nightingale", "canary", "pass phrase", "2001-02-28", "argon2id"] { #expect(!text.contains(word)) }
        #expect(
            try RawClient(port: server.port).exchange("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .hasPrefix("HTTP/1.1 404"),
            "the public port does not serve metrics"
        )
        #expect(await server.end(by: SIGTERM) == 0)
        let session = try DatabaseSession()
        let kept = try session.query("SELECT sum(count)::bigint FROM funnel_daily WHERE outcome = 'completed'").only
            .decode(Int.self)
        #expect(kept == 8, "the last counts are written at shutdown")
    }

    @Test func `a reached rate limit is counted`() async throws {
        try await TestSignups.with(limits: nil) { service in
            for _ in 0..<121 { _ = try? await service.start() }
            let text = Monitor(of: service.signups, version: "1.2.3").exposition()
            #expect(text.contains("accounts_limits_reached_total{limit=\"starts\"} 1\n"))
        }
    }

    @Test func `a server whose keys do not fit the database says so`() async throws {
        try await TestSignups.with { service in
            for (mismatch, value) in [(nil, 1), (.missing("k2"), 0)] as [(KeyMismatch?, Double)] {
                let monitor = Monitor(of: service.signups, version: "1", keyMismatch: mismatch)
                let numbers = try await Self.parse(monitor.exposition())
                #expect(numbers["accounts_keys_fit"] == value)
            }
        }
    }

    @Test func `overdue drafts and mails are counted with their delay`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            try DatabaseSession().run(
                """
                UPDATE drafts SET id = ('019' || substr(id::text, 4))::uuid;
                UPDATE drafts SET updated_at = now() - interval '24 hours 100 seconds';
                UPDATE outbox SET created_at = now() - interval '77 seconds', due_at = now() - interval '44 seconds'
                """
            )
            let monitor = Monitor(of: service.signups, version: "1")
            await monitor.refresh()
            let numbers = try await Self.parse(monitor.exposition())
            #expect(numbers["accounts_drafts state=expired"] == 1)
            #expect(numbers["accounts_reaper_backlog"] == 1)
            #expect((100...400).contains(numbers["accounts_reaper_backlog_seconds"] ?? 0))
            #expect(numbers["accounts_outbox_waiting"] == 1)
            #expect((44...344).contains(numbers["accounts_outbox_overdue_seconds"] ?? 0))
            #expect((77...377).contains(numbers["accounts_outbox_waiting_seconds"] ?? 0))
        }
    }

    @Test func `an overdue draft of a recovery is counted while a sign-up of its age is not overdue`() async throws {
        try await TestSignups.with { service in
            for _ in 1...2 { _ = try await service.start() }
            try DatabaseSession().run(
                """
                UPDATE drafts SET updated_at = now() - interval '31 minutes';
                UPDATE drafts SET flow = 'recovery/' || flow WHERE id = (SELECT id FROM drafts LIMIT 1)
                """
            )
            let monitor = Monitor(of: service.signups, version: "1")
            await monitor.refresh()
            let numbers = try await Self.parse(monitor.exposition())
            #expect(numbers["accounts_reaper_backlog"] == 1)
            #expect((60...360).contains(numbers["accounts_reaper_backlog_seconds"] ?? 0))
        }
    }

    @Test func `undelivered events and logouts are counted for each application`() async throws {
        try await TestSignups.with { service in
            let session = try DatabaseSession()
            try session.run(
                """
                INSERT INTO applications (id, events, has_webhook, backchannel_logout)
                VALUES ('shop', ARRAY['account.updated'], true, false), ('blog', ARRAY['account.updated'], true, false),
                       ('wiki', '{}', false, true)
                """
            )
            for _ in 1...3 { try session.run("SELECT write_event(gen_random_uuid(), 'account.updated')") }
            try session.run(
                """
                UPDATE applications SET state = 'off' WHERE id = 'blog';
                DELETE FROM deliveries WHERE application = 'blog';
                UPDATE events SET created_at = now() - interval '77 seconds';
                UPDATE deliveries SET due_at = now() - interval '44 seconds';
                UPDATE deliveries SET state = 'failed' WHERE event = (SELECT event FROM deliveries LIMIT 1);
                INSERT INTO logouts (sid, application, account)
                VALUES (gen_random_uuid(), 'wiki', gen_random_uuid())
                """
            )
            let monitor = Monitor(of: service.signups, version: "1")
            await monitor.refresh()
            let numbers = try await Self.parse(monitor.exposition())
            for (name, number) in [
                "accounts_census_up": 1,
                "accounts_events_waiting application=shop": 2, "accounts_events_waiting application=blog": 0,
                "accounts_events_failed application=shop": 1, "accounts_events_failed application=blog": 0,
                "accounts_webhook_off application=shop": 0, "accounts_webhook_off application=blog": 1,
                "accounts_events_waiting_seconds application=blog": 0,
                "accounts_events_overdue_seconds application=blog": 0,
                "accounts_logouts_waiting application=wiki": 1,
            ] as [String: Double] {
                #expect(numbers[name] == number, "\(name)")
            }
            #expect((77...377).contains(numbers["accounts_events_waiting_seconds application=shop"] ?? 0))
            #expect((44...344).contains(numbers["accounts_events_overdue_seconds application=shop"] ?? 0))
            #expect(numbers["accounts_logouts_waiting application=shop"] == nil)
            #expect(numbers["accounts_events_waiting application=wiki"] == nil)
        }
    }

    @Test func `a recovery that needs only its commit counts as review`() async throws {
        try await TestSignups.with { service in
            _ = try await service.readyDraft()
            try DatabaseSession().run("UPDATE drafts SET step = 'recovery/review'")
            let monitor = Monitor(of: service.signups, version: "1")
            await monitor.refresh()
            let numbers = try await Self.parse(monitor.exposition())
            #expect(numbers["accounts_drafts state=review"] == 1 && numbers["accounts_drafts state=open"] == 0)
        }
    }

    @Test func `a locked table does not block the metrics`() async throws {
        try await TestSignups.with { service in
            let session = try DatabaseSession()
            try session.run("BEGIN; LOCK TABLE outbox")
            let monitor = Monitor(of: service.signups, version: "1")
            await monitor.refresh()
            var numbers = try await Self.parse(monitor.exposition())
            #expect(numbers["accounts_database_up"] == 1 && numbers["accounts_census_up"] == 0)
            #expect(numbers["accounts_outbox_waiting"] == nil)
            try session.run("COMMIT")
            await monitor.refresh()
            numbers = try await Self.parse(monitor.exposition())
            #expect(numbers["accounts_census_up"] == 1 && numbers["accounts_outbox_waiting"] == 0)
        }
    }

    @Test func `without the database the metrics of the process remain`() async throws {
        try await Cluster.withRunning { cluster in
            _ = try Migrations().apply(to: cluster.conninfo)
            let server = try await ServerProcess.start(database: cluster.conninfo)
            try await cluster.stop()
            while try await Self.parse(server.metrics())["accounts_database_up"] != 0 {}
            let numbers = try await Self.parse(server.metrics())
            #expect(numbers["accounts_drafts state=open"] == nil)
            #expect(numbers["process_open_fds"] ?? 0 > 0)
            #expect(numbers["accounts_lanes_up lane=grouped"] == 0)
            await server.end(by: SIGKILL)
        }
    }

    @Test func `METRICS_LISTEN=off turns metrics off`() async throws {
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["METRICS_LISTEN": "off"]
        )
        #expect(await server.end(by: SIGTERM) == 0)
        #expect(!server.log.contains("serving metrics"))
    }
}
