import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("Available cores and memory")
struct MachineTests {
    @Test(arguments: [
        ("200000 100000\n", 2), ("150000 100000\n", 2), ("50000 100000\n", 1), ("max 100000\n", nil), ("", nil),
        ("0 0", nil),
    ])
    func `a control group limits the cores`(text: String, cores: Int?) {
        #expect(Machine.cores(allowedBy: text) == cores)
    }

    @Test(arguments: [("536870912\n", 536_870_912), ("max\n", nil), ("", nil)])
    func `a control group limits the memory`(text: String, memory: Int?) {
        #expect(Machine.memory(allowedBy: text) == memory)
    }

    @Test func `the limits of all control groups that contain the process apply`() {
        let unit = "1:name=systemd:/\n0::/system.slice/api.service\n"
        #expect(Machine.controlGroups(in: unit) == ["/system.slice/api.service", "/system.slice", ""])
        #expect(Machine.controlGroups(in: "0::/\n") == [""])
        #expect(Machine.controlGroups(in: "") == [""])
    }

    @Test func `the machine has cores and memory`() {
        #expect(Machine.cores >= 1 && Machine.memory > 0)
    }

    @Test func `workers that need more than the available memory are a mistake`() {
        let environment = [
            "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "ARGON2_WORKERS": "256",
            "ARGON2_MEMORY_KIB": "262144",
        ]
        let mistakes = #expect(throws: SettingMistakes.self) { try Settings(SettingSource(environment: environment)) }
        let start = "ARGON2_WORKERS hashes of ARGON2_MEMORY_KIB need 66048 MiB, with 2 MiB of overhead each, but only "
        #expect(mistakes?.description.hasPrefix(start) == true)
    }
}
