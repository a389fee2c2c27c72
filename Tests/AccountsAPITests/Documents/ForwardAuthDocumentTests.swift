import Foundation
import TestSupport
import Testing
import Yams

@testable import accounts_api

@Suite("The files of docs/forward-auth.md")
struct ForwardAuthDocumentTests {
    @Test(arguments: [
        ("nginx", "nginx.conf"), ("haproxy", "haproxy.cfg"), ("lua", "accounts.lua"), ("yaml", "envoy.yaml"),
    ])
    func `the document shows the files that the tests run or check`(language: String, file: String) throws {
        let path = Repository.root.appending(path: "docs/forward-auth.md")
        let document = try String(contentsOf: path, encoding: .utf8)
        #expect(document.contains("```\(language)\n\(try ForwardProxy.text(of: file))```"))
    }

    @Test func `the files of all proxies have the same list of paths of the service`() throws {
        let nginx = try ForwardProxy.text(of: "nginx.conf")
        let paths = try #require(nginx.firstMatch(of: /location ~ \^\/(\(.*?\))\(\/\|\$\) \{/)).1
        #expect(paths.contains("|sign-in|"))
        #expect(try ForwardProxy.text(of: "haproxy.cfg").contains(" ^/\(paths)(/|$)\n"))
        #expect(try ForwardProxy.text(of: "envoy.yaml").contains(" /\(paths)(/.*)?\n"))
    }

    @Test func `Envoy checks every request that is not for the service, and refuses it if the check gets no answer`()
        throws
    {
        let file = try #require(try Yams.compose(yaml: ForwardProxy.text(of: "envoy.yaml")))
        let listeners = try #require(file["static_resources"]?["listeners"]?.sequence)
        #expect(listeners.count == 1)
        let manager = try #require(listeners[0]["filter_chains"]?[0]?["filters"]?[0]?["typed_config"])
        let filters = try #require(manager["http_filters"]?.sequence)
        #expect(filters.map { $0["name"]?.string } == ["envoy.filters.http.ext_authz", "envoy.filters.http.router"])
        let check = try #require(filters[0]["typed_config"])
        #expect(check["failure_mode_allow"]?.bool == false)
        #expect(Self.names(check["allowed_headers"]) == ["cookie", "sec-fetch-mode"])
        let service = try #require(check["http_service"])
        #expect(service["path_prefix"]?.string == ForwardAuthRoutes.prefix)
        #expect(
            Self.names(service["authorization_response"]?["allowed_upstream_headers"])
                == ["remote-user", "remote-email", "remote-name", "x-identity", "cookie"]
        )
        let routes = try #require(manager["route_config"]?["virtual_hosts"]?[0]?["routes"]?.sequence)
        #expect(routes.map { $0["route"]?["cluster"]?.string } == [nil, "accounts", "application"])
        #expect(routes[0]["match"]?["prefix"]?.string == "/session/check")
        #expect(routes[0]["direct_response"]?["status"]?.int == 404)
        #expect(routes.map { $0["typed_per_filter_config"] != nil } == [true, true, false])
    }

    /// The names in a list of Envoy's string matchers; nil for a matcher that is not `exact`.
    private static func names(_ list: Node?) -> [String?]? { list?["patterns"]?.sequence?.map { $0["exact"]?.string } }
}
