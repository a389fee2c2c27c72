import Accounts
import ArgumentParser
import Foundation

extension ApplicationCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the applications in APPLICATIONS_FILE, without their secrets.",
            discussion: """
                EXAMPLE
                  accounts-api applications list --applications-file applications.yaml
                """
        )

        @Option(\.applicationsFile) var applicationsFile: String?
        @Option(\.flow) var flowFile: String?
        @Option(\.publicURL) var publicURL: String?
        @OptionGroup var list: ListFlags
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let source = SettingSource([
                \.applicationsFile: applicationsFile, \.flow: flowFile, \.publicURL: publicURL,
            ])
            let file = try ApplicationsFile(nil, source)
            let format = try Application.format(in: file.flow).chosen(by: list, asJSON: json)
            let applications: [Application]
            do throws(ApplicationsFileError) {
                applications = try file.read().all
            } catch {
                throw SettingMistakes(error)
            }
            print(
                json
                    ? JSON.array(applications.map(format.json(of:))).text
                    : format.table(of: applications, at: Date()).text
            )
        }
    }
}

extension Application {
    fileprivate static func format(in flow: Flow) -> ListFormat<Application> {
        ListFormat(
            [
                .text("ID", \.id), .text("NAME") { $0.name(in: flow.languages[0]) }, .text("CLIENT", \.type),
                .text("CLAIMS") { $0.fieldNames.map(\.rawValue).joined(separator: ", ") },
                .text("EVENTS") { $0.webhook?.events.joined(separator: ", ") },
                .text("REDIRECT URIS") { $0.redirectURIs.joined(separator: " ") },
            ],
            fields: [
                .text("id", \.id), .init("name") { $0.names(in: flow.knownLanguages) }, .text("client", \.type),
                .init("redirect_uris") { texts($0.redirectURIs) },
                .init("post_logout_redirect_uris") { texts($0.postLogoutRedirectURIs) },
                .text("initiate_login_uri", \.initiateLoginURI),
                .init("claims") { texts($0.fieldNames.map(\.rawValue)) },
                .text("id_token_signing_alg", \.signingAlgorithm.rawValue),
                .text("backchannel_logout_uri", \.backchannelLogoutURI),
                .init("webhook") { $0.webhook.map(json) ?? .null },
            ]
        )
    }

    /// The client type (RFC 6749 §2.1).
    private var type: String { isPublic ? "public" : "confidential" }

    private func names(in languages: [Language]) -> JSON {
        .object(languages.map { .init($0.tag, .string(name(in: $0))) })
    }

    private static func json(_ webhook: Webhook) -> JSON {
        [
            "url": .string(webhook.url), "events": texts(webhook.events),
            "public_keys": texts(webhook.secrets.compactMap(\.publicKey)),
        ]
    }

    private static func texts(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }
}
