internal import ArgumentParser
internal import Foundation
internal import Logging

@testable import Accounts
@testable import accounts_api

/// Runs the benchmark that `scripts/bench` names, or the server that the benchmarks measure.
@main
enum Benchmarks {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        switch arguments.first {
        case "validation": try Validation.measure()
        case "breached": try BreachedLookups.measure()
        case "enumeration": try Enumeration.measure()
        case "sign-in-enumeration": try SignInEnumeration.measure()
        case "mail": try MailArrival.measure()
        case "sign-ins": try await SignIns.measure()
        case "growth": try await Growth.measure()
        case "erasure": try Erasure.measure()
        case "events": try EventDelivery.measure()
        case "outage": try EventDelivery.measureOutage()
        case "triggers": try EventTriggers.measure()
        case "pages": try await PageRendering.measure()
        case "refusals": try RefusedRequests.measure()
        case "serve": try await serve(with: Connections(rawValue: arguments[1])!)
        case "hash": try Hashes.printRate(arguments.dropFirst())
        default: try await Goals.measure(arguments)
        }
    }

    /// Runs the server as `accounts-api serve` does, with one of the designs of connections to PostgreSQL.
    private static func serve(with connections: Connections) async throws {
        let settings = try Settings(SettingFlags.parse([]).source)
        signal(SIGPIPE, SIG_IGN)
        LoggingSystem.bootstrap { _ in LineLogger(isJSON: true, logLevel: settings.logLevel) }
        let logger = Logger(label: "accounts")
        let metrics = Metrics()
        let database = connections.database(
            settings.databaseURL,
            connections: settings.databaseConnections,
            metrics: metrics,
            logger: logger
        )
        try await Server(settings, logger: logger).run(on: database, metrics)
    }
}
