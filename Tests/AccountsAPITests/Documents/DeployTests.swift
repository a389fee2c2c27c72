import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("Metrics in deploy/", .freshDatabase)
struct DeployTests {
    private static func text(of file: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
    }

    /// The names of all metrics, and of the series that histograms have.
    private static func metrics() async throws -> (names: Set<String>, series: Set<String>) {
        try await TestSignups.with { service in
            let monitor = Monitor(of: service.signups, version: "1")
            await monitor.refresh()
            var (names, series): (Set<String>, Set<String>) = ([], [])
            for match in monitor.exposition().matches(of: /(?m)^# TYPE ([a-z_]+) ([a-z]+)$/) {
                let name = String(match.1)
                names.insert(name)
                series.formUnion(match.2 == "histogram" ? ["_bucket", "_sum", "_count"].map { name + $0 } : [name])
            }
            return (names, series)
        }
    }

    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(?:accounts|process)_[a-z_]+\b/).map { String($0.output) })
    }

    @Test(arguments: ["deploy/grafana.json", "deploy/alerts.yaml", "deploy/alerts.test.yaml"])
    func `each file names only metrics that exist`(file: String) async throws {
        let named = Self.names(in: try Self.text(of: file))
        let (_, series) = try await Self.metrics()
        #expect(named.count > 10)
        #expect(named.subtracting(series) == [])
    }

    @Test func `every metric is on the dashboard and in docs/operating.md`() async throws {
        let (names, _) = try await Self.metrics()
        let dashboard = try Self.text(of: "deploy/grafana.json")
        let document = try Self.text(of: "docs/operating.md")
        for name in names {
            #expect(dashboard.contains(name), "\(name) is on no panel")
            #expect(document.contains("`\(name)`"), "\(name) is not explained")
        }
    }

    @Test func `the dashboard is JSON, with a title and a description for each panel`() throws {
        let dashboard = try JSON.read(Array(Self.text(of: "deploy/grafana.json").utf8))
        guard case .array(let panels)? = dashboard["panels"] else {
            Issue.record("there are no panels")
            return
        }
        for panel in panels where panel["type"] != "row" {
            #expect(panel["title"]?.string?.isEmpty == false && panel["description"]?.string?.hasSuffix(".") == true)
        }
        #expect(panels.count > 20)
    }

    @Test func `the runbook names rows and panels of the dashboard, and sections of the document`() throws {
        let document = try Self.text(of: "docs/operating.md")
        let dashboard = try JSON.read(Array(Self.text(of: "deploy/grafana.json").utf8))
        guard case .array(let panels)? = dashboard["panels"] else {
            Issue.record("there are no panels")
            return
        }
        let start = try #require(document.range(of: "### AccountsDown\n"))
        let runbook = document[start.upperBound...].components(separatedBy: "\n## ")[0]
        let names = runbook.matches(of: /\*([A-Z][^*|]*)\*/).map { match in
            match.1.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        let sections = document.matches(of: /(?m)^#+ (.+)$/).map { String($0.1) }
        #expect(names.count > 30)
        #expect(Set(names).subtracting(panels.compactMap { $0["title"]?.string }).subtracting(sections) == [])
    }

    @Test func `each alert has a section that says what to check and how to fix it`() throws {
        let document = try Self.text(of: "docs/operating.md")
        let alerts = try Self.text(of: "deploy/alerts.yaml").matches(of: /- alert: ([A-Za-z]+)/).map { String($0.1) }
        let sections = document.matches(of: /(?m)^### (Accounts[A-Za-z]+)$/).map { String($0.1) }
        #expect(alerts.count >= 15 && Set(alerts) == Set(sections))
        let links = try Self.text(of: "deploy/alerts.yaml").matches(of: /runbook_url: docs\/operating.md#([a-z]+)/)
        #expect(links.map { String($0.1) } == alerts.map { $0.lowercased() })
        for name in sections {
            let start = try #require(document.range(of: "### \(name)\n"))
            let section = document[start.upperBound...].prefix { _ in true }.components(separatedBy: "\n##")[0]
            #expect(section.contains("\n\nCheck: ") || section.contains("\n\nCheck:\n"), "\(name)")
            #expect(section.contains("\n\nFix: "), "\(name)")
        }
    }
}
