import EvolveKit
import Testing

@Suite struct DebianVersionTests {
  @Test(arguments: [
    "1.0", "1.0-1", "2:1.0-1", "1.0-rc-1", "1:2.36.1-8+deb11u1", "", "x:1", "0:1-", "2024-05-06",
  ])
  func `a version is written as it was read`(text: String) {
    #expect(DebianVersion(text).description == text)
  }

  @Test func `a version has parts`() {
    let version = DebianVersion("1:2.36-rc-8+deb11u1")
    #expect(version.epoch == 1)
    #expect(version.upstream == "2.36-rc")
    #expect(version.revision == "8+deb11u1")
  }

  /// As `dpkg --compare-versions` orders them.
  @Test func `versions are ordered`() {
    let ascending = [
      "1.0~~", "1.0~~a", "1.0~", "1.0", "1.0-0.1", "1.0-1~bpo1", "1.0-1", "1.0-1a", "1.0-1+b1",
      "1.0-2", "1.0-10", "1.0a", "1.0+x", "1.0.1", "1.2", "1.10", "1.099999999999999999999",
      "1:0.1",
    ].map(DebianVersion.init)
    for (place, version) in ascending.enumerated() {
      for (otherPlace, other) in ascending.enumerated() {
        #expect(version.isNewer(than: other) == (place > otherPlace), "\(version), \(other)")
      }
    }
    for (one, other) in [("1.0", "0:1.0"), ("1.0", "1.00"), ("1.0", "1.0-0")] {
      #expect(!DebianVersion(one).isNewer(than: DebianVersion(other)), "\(one), \(other)")
      #expect(!DebianVersion(other).isNewer(than: DebianVersion(one)), "\(one), \(other)")
    }
  }
}
