import Accounts
import ArgumentParser

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
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let source = SettingSource([
                \.applicationsFile: applicationsFile, \.flow: flowFile, \.publicURL: publicURL,
            ])
            let file = try ApplicationsFile(nil, source)
            let applications = try file.read().all
            print(
                json
                    ? JSON.array(applications.map { Self.json($0, in: file.flow) }).text
                    : Self.table(of: applications, in: file.flow)
            )
        }

        private static func table(of applications: [Application], in flow: Flow) -> String {
            let rows = applications.map { application -> [Table.Cell] in
                [
                    .init(application.id), .init(application.name(in: flow.languages[0])), .init(application.type),
                    .init(application.claims.map(\.rawValue).joined(separator: ", ")),
                    .init(application.webhook?.events.joined(separator: ", ") ?? ""),
                    .init(application.redirectURIs.joined(separator: " ")),
                ]
            }
            return Table(["ID", "NAME", "CLIENT", "CLAIMS", "EVENTS", "REDIRECT URIS"], rows).text
        }

        private static func json(_ application: Application, in flow: Flow) -> JSON {
            let names = flow.knownLanguages.map { JSON.Member($0.tag, .string(application.name(in: $0))) }
            return [
                "id": .string(application.id), "name": .object(names), "client": .string(application.type),
                "redirect_uris": texts(application.redirectURIs),
                "post_logout_redirect_uris": texts(application.postLogoutRedirectURIs),
                "initiate_login_uri": application.initiateLoginURI.map(JSON.string) ?? .null,
                "claims": texts(application.claims.map(\.rawValue)),
                "id_token_signing_alg": .string(application.signingAlgorithm.rawValue),
                "backchannel_logout_uri": application.backchannelLogoutURI.map(JSON.string) ?? .null,
                "webhook": application.webhook.map(json) ?? .null,
            ]
        }

        private static func json(_ webhook: Webhook) -> JSON {
            [
                "url": .string(webhook.url), "events": texts(webhook.events),
                "public_keys": texts(webhook.secrets.compactMap(\.publicKey)),
            ]
        }

        private static func texts(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }
    }
}

extension Application {
    /// The client type (RFC 6749 §2.1).
    fileprivate var type: String { isPublic ? "public" : "confidential" }
}
