import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("The time of an authorization request", .freshDatabase)
struct RequestTimeTests {
    private static let file = """
        applications:
          - id: shop
            name: {en: Example Shop, ko: 예시 상점}
            redirect_uris: [https://shop.example/callback]
            claims: []
        """

    @Test(arguments: [-1800.0, 1800.0])
    func `the time of a request is that of the database, even if the clock of the server is wrong`(skew: Double)
        async throws
    {
        try await TestSignups.with { service in
            let flow = service.signups.flow
            let registry = try ApplicationRegistry { () throws(ApplicationsFileError) in
                try Applications.parse(Self.file, file: "a.yaml", flow: flow, publicURL: "http://localhost:8080") { _ in
                    SecretFile(lines: [])
                }
            }
            let provider = Provider(
                sessions: Sessions(signups: service.signups, failureTime: .zero),
                registry: registry,
                signingKeys: SigningKeys(database: service.database, keys: service.signups.keys),
                issuer: "http://localhost:8080"
            )
            let query = """
                client_id=shop&redirect_uri=https%3A%2F%2Fshop.example%2Fcallback&response_type=code&scope=openid\
                &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256
                """
            let request = try await provider.request(OAuthParameters(query: query))
            let database = try DatabaseSession()
            let before = try database.query("SELECT now()").only.decode(Date.self)
            let dated = try await provider.dated(request.made(at: Date() + skew), nil)
            let after = try database.query("SELECT now()").only.decode(Date.self)
            #expect(before <= dated.madeAt && dated.madeAt <= after)
        }
    }
}
