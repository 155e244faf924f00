import CachesTestSupport
import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Keys that are listed and removed by what they begin with.
@Suite(.hangLimit) struct DiskPrefixTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  @Test(arguments: 0..<UInt64(Effort.times(4)))
  func `keys with a prefix are listed and removed`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let cache = fixture.cache()
    // Beyond one batch of a removal.
    var keys: Set<String> = []
    for number in 0..<Int.random(in: 400...700, using: &random) {
      let key = ["a", "ab", "b", "e\u{301}", "\u{e9}", ""].randomElement(using: &random) ?? ""
      keys.insert("\(key)\(number)")
      #expect(cache.setValue(number, for: "\(key)\(number)"))
    }
    // Byte for byte: a letter with its accent isn't the letter and the accent.
    func matching(_ prefix: String) -> Set<String> {
      keys.filter { $0.utf8.starts(with: prefix.utf8) }
    }
    let prefix =
      ["a", "ab", "b", "e", "e\u{301}", "\u{e9}", "x", ""].randomElement(using: &random) ?? ""
    #expect(Set(cache.keys()) == keys)
    #expect(cache.keys(withPrefix: prefix).count == matching(prefix).count)
    #expect(Set(cache.keys(withPrefix: prefix)) == matching(prefix))
    #expect(cache.removeValues(withPrefix: prefix))
    keys.subtract(matching(prefix))
    #expect(Set(cache.keys()) == keys)
    #expect(Set(fixture.cache().keys()) == keys)
    #expect(cache.count == keys.count)
  }

  @Test func `keys are in the order of their use, without expired ones`() {
    let cache = fixture.cache()
    cache.setValue(1, for: "a")
    cache.setValue(2, for: "b", timeToLive: .seconds(5))
    cache.setValue(3, for: "c")
    #expect(cache.keys() == ["a", "b", "c"])
    fixture.now += 10
    #expect(cache.keys() == ["a", "c"])
  }

  @Test func `a load is not kept over a removal by prefix`() async throws {
    let cache = fixture.cache()
    let value = try await cache.value(for: "a1") {
      cache.setValue(0, for: "a2")
      cache.removeValues(withPrefix: "a")
      return 1
    }
    #expect(value == 1)
    #expect(cache.keys() == [])
  }
}
