#if Server
import Testing
@testable import SteadSyncServer

@Suite struct AddressRangeTests {
  @Test func `a range contains its addresses`() throws {
    let range = try #require(AddressRange("10.1.0.0/15"))
    #expect(range.contains("10.0.255.255") && range.contains("10.1.2.3"))
    #expect(!range.contains("10.2.0.0") && !range.contains("::1") && !range.contains("x"))
    #expect(range.contains("::ffff:10.1.2.3"))
    #expect(AddressRange("10.0.0.0/33") == nil && AddressRange("10.0.0") == nil)
    #expect(AddressRange("") == nil && AddressRange("::1/128") != nil)
  }

  @Test(arguments: [
    ("198.51.100.9", nil, "198.51.100.9"),
    // A stranger's header isn't believed.
    ("198.51.100.9", "203.0.113.7", "198.51.100.9"),
    ("10.0.0.1", "203.0.113.7", "203.0.113.7"),
    // The client wrote the first address itself.
    ("10.0.0.1", "192.0.2.1, 203.0.113.7", "203.0.113.7"),
    ("10.0.0.1", "203.0.113.7, 10.0.0.2", "203.0.113.7"),
    ("10.0.0.1", "nonsense", "10.0.0.1"),
  ])
  func `the client is the last address that no proxy has`(
    connection: String, forwarded: String?, client: String
  ) throws {
    let proxies = [try #require(AddressRange("10.0.0.0/8"))]
    #expect(
      AddressRange.client(of: connection, forwarded: forwarded, trusted: proxies) == client)
  }
}
#endif
