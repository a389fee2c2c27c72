import Accounts
import ArgumentParser
import Foundation

extension KeyCommands {
    struct Pseudonym: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the pseudonyms that an IP address has in the log on one day.",
            discussion: """
                The members "network" and "site" of the lines about refused requests have these pseudonyms. They depend \
                on the first key of ACCOUNTS_KEYS and change at midnight UTC. Needs no database.

                EXAMPLES
                  accounts-api keys pseudonym 192.0.2.1
                  accounts-api keys pseudonym 2001:db8::1 --day 2026-03-04
                """
        )

        @Argument(help: "An IPv4 or IPv6 address.") var address: IPAddress
        @Option(help: "The day in UTC, such as 2026-03-04; the default is today.") var day: DayArgument?
        @Flag(help: "Prints JSON.") var json = false

        func run() throws {
            let keys = try SettingSource().read(\.keys)
            let (network, time) = (Network(address), day?.midnight ?? Date())
            let (name, site) = (keys.pseudonym(of: network, at: time), keys.pseudonym(of: network.site, at: time))
            if json {
                print(JSON.object([.init("network", .string(name)), .init("site", .string(site))]).text)
            } else {
                print("network  \(name)\nsite     \(site)")
            }
        }
    }
}

extension IPAddress: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

/// An argument that is a day in UTC, such as `2026-03-04`.
struct DayArgument: ExpressibleByArgument {
    let midnight: Date

    init?(argument: String) {
        let format = Date.ISO8601FormatStyle.iso8601.year().month().day()
        // Foundation reads 30 February as 2 March.
        guard let date = try? format.parse(argument), format.format(date) == argument else { return nil }
        midnight = date
    }
}
