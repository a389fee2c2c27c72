import Accounts
import ArgumentParser
import Foundation

extension KeyCommands {
    struct Signing: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists and replaces the keys that sign tokens for applications.",
            subcommands: [List.self, Rotate.self]
        )
    }
}

extension KeyCommands.Signing {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the signing keys: the next ones, the live ones, and the old ones.",
            discussion: """
                An old key signs nothing. It is published for a day, and verifies expired tokens for 31 days.

                EXAMPLE
                  accounts-api keys signing list
                """
        )

        @OptionGroup var list: ListFlags
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let format = try ListedSigningKey.format.chosen(by: list, asJSON: flags.json)
            let (keys, now) = try await flags.withOperator(needsKeys: false) { try await $0.signingKeys() }
            if flags.json {
                print(JSON.object([.init("keys", .array(keys.map(format.json(of:))))]).text)
            } else if keys.isEmpty {
                print("no signing keys: a server makes them when it needs them")
            } else {
                print(format.table(of: keys, at: now).text(isWide: flags.wide))
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replaces the live signing keys by the next ones, and makes new next ones.",
            discussion: """
                Servers follow within a minute, without a restart. Refuses if the next keys were made less than 16 \
                minutes ago, because applications may still have a list of keys without them. Pass --force if a live \
                key is compromised: applications then refuse tokens until they read the list again. Writes an audit \
                record. Asks first, or needs --yes.

                EXAMPLE
                  accounts-api keys signing rotate --yes
                """
        )

        @Flag(help: "Does not ask.") var yes = false
        @Flag(help: "Rotates even if applications may not know the next keys yet.") var force = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            if !yes { try Question.ask("Replace the live signing keys? [y/N] ", orRefuse: "no key was replaced") }
            let (keys, _) = try await flags.withOperator(writesAudit: true) { admin in
                do throws(SigningKeyRotationError) {
                    try await admin.rotateSigningKeys(isForced: force)
                } catch {
                    throw Self.failure(error)
                }
                return try await admin.signingKeys()
            }
            let live = keys.filter { $0.state == "live" }
            if flags.json {
                print(JSON.object([.init("live", .array(live.map { .string($0.kid) }))]).text)
            } else {
                for key in live { print("live: \(key.kid) (\(key.algorithm))") }
            }
        }

        private static func failure(_ error: SigningKeyRotationError) -> any Error {
            switch error {
            case .noKeys: Refused(description: "there are no signing keys: a server makes them when it needs them")
            case .tooEarly(let until, let now):
                Refused(
                    description: """
                        applications may not know the next keys yet; run this again \(relative(until, to: now)), or \
                        pass --force if a live key is compromised
                        """
                )
            case .database(let error): error
            }
        }
    }
}

extension ListedSigningKey {
    fileprivate static var format: ListFormat<ListedSigningKey> {
        ListFormat(
            [
                .text("KID", \.kid), .text("ALGORITHM", \.algorithm), .text("STATE", \.state),
                .text("PUBLISHED") { $0.isPublished ? "yes" : "no" }, .time("CREATED", \.createdAt),
                .time("LIVE", \.liveAt), .time("RETIRED", \.retiredAt),
            ],
            fields: [
                .text("kid", \.kid), .text("algorithm", \.algorithm), .text("state", \.state),
                .init("published") { .bool($0.isPublished) }, .time("created_at", \.createdAt),
                .time("live_at", \.liveAt), .time("retired_at", \.retiredAt),
            ]
        )
    }
}
