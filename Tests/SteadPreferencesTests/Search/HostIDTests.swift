import Foundation
import Testing

@testable import SteadPreferences

struct HostIDTests {
  @Test func theMachinesIdentityDoesNotShow() {
    let identity = "0123456789abcdef0123456789abcdef"
    let id = HostID.make(machineID: Data("\(identity)\n".utf8), hostName: "host")
    #expect(id.count == 32)
    #expect(!id.contains(identity.prefix(8)))
    #expect(id == HostID.make(machineID: Data(identity.utf8), hostName: "other name"))
    #expect(id != HostID.make(machineID: Data("1\(identity)".utf8), hostName: "host"))
  }

  @Test func withoutAnIdentityTheNameCounts() {
    let id = HostID.make(machineID: nil, hostName: "host")
    #expect(id == HostID.make(machineID: Data("\n".utf8), hostName: "host"))
    #expect(id != HostID.make(machineID: nil, hostName: "other"))
    #expect(id.filter { !$0.isHexDigit } == "")
  }
}
