import Accounts
import ArgumentParser
import Foundation

extension KeyCommands {
    struct Signing: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists and replaces the keys that sign tokens for applications.",
            subcommands: [List.self, Rotate.self, Revoke.self]
        )
    }
}

extension KeyCommands.Signing {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the signing keys: the next ones, the live ones, and the old ones.",
            discussion: """
                The live keys sign. The next keys are published already, so that applications know them before these \
                keys sign. An old key signs nothing: it is published for a day, and verifies expired tokens for 31 days.

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
            abstract: "Replaces the live signing keys with the next ones, and makes new next ones.",
            discussion: """
                Servers follow within a minute, without a restart. Refuses if the next keys were made less than 16 \
                minutes ago, because applications may still have a list of keys without them. With --force, \
                applications may refuse tokens until they read the list again. The old keys still verify tokens: if \
                somebody else may have a key, revoke the keys. Writes an audit record. Asks first, or needs --yes.

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
            keys.printLive(asJSON: flags.json)
        }

        private static func failure(_ error: SigningKeyRotationError) -> any Error {
            switch error {
            case .noKeys: Refused(description: "there are no signing keys: a server makes them when it needs them")
            case .tooEarly(let until, let now):
                Refused(
                    description: """
                        applications may not know the next keys yet; run this again \(relative(until, to: now)), or \
                        revoke the keys if somebody else may have one
                        """
                )
            case .database(let error): error
            }
        }
    }
}

extension KeyCommands.Signing {
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes all signing keys and makes new ones, because somebody else may have one.",
            discussion: """
                Servers follow within a minute: they sign with the new keys, and accept no token that an older key has \
                signed. Applications refuse new tokens, and accept those of the older keys, until they read the list \
                of keys again, after 15 minutes at most. If somebody else may have ACCOUNTS_KEYS, too, replace it \
                first. Writes an audit record. Asks first, or needs --yes.

                EXAMPLE
                  accounts-api keys signing revoke --yes --reason INC-17
                """
        )

        @Flag(help: "Does not ask.") var yes = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            if !yes { try Question.ask("Delete all signing keys? [y/N] ", orRefuse: "no key was deleted") }
            let (keys, _) = try await flags.withOperator(writesAudit: true) { admin in
                try await admin.revokeSigningKeys()
                return try await admin.signingKeys()
            }
            keys.printLive(asJSON: flags.json)
        }
    }
}

extension [ListedSigningKey] {
    fileprivate func printLive(asJSON: Bool) {
        let live = filter { $0.state == "live" }
        if asJSON {
            print(JSON.object([.init("live", .array(live.map { .string($0.kid) }))]).text)
        } else {
            for key in live { print("live: \(key.kid) (\(key.algorithm))") }
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
