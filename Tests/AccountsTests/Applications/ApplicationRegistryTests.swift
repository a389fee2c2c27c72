import Synchronization
import Testing

@testable import Accounts

@Suite("The registry of applications")
struct ApplicationRegistryTests {
    @Test func `a reload replaces all applications, or none if the file has mistakes`() throws {
        let text = Mutex(Applications.file())
        let registry = try Self.registry { text.withLock { $0 } }
        #expect(registry.current.all.map(\.id) == ["shop"])
        text.withLock { $0 = $0.replacing("id: shop", with: "id: wiki") }
        #expect(registry.current.all.map(\.id) == ["shop"], "nothing changes before the reload")
        try registry.reload()
        #expect(registry.current["shop"] == nil && registry.current["wiki"] != nil)
        text.withLock { $0 = "applications: [{}]" }
        #expect(throws: ApplicationsFileError.self) { try registry.reload() }
        #expect(registry.current.all.map(\.id) == ["wiki"])
    }

    @Test func `a registry is not created from a file with mistakes`() {
        #expect(throws: ApplicationsFileError.self) { try Self.registry { "applications: [{}]" } }
    }

    private static func registry(
        _ text: @escaping @Sendable () -> String
    ) throws(ApplicationsFileError) -> ApplicationRegistry {
        try ApplicationRegistry { () throws(ApplicationsFileError) in
            let flow: Flow
            do throws(YAMLFileError) {
                flow = try .standard()
            } catch {
                throw ApplicationsFileError(mistakes: [error])
            }
            return try .parse(text(), file: "apps.yaml", flow: flow, publicURL: "https://accounts.example")
        }
    }
}
