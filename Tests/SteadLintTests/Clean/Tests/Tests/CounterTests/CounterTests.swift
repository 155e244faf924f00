import Foundation
import Testing

@testable import Counter

struct CounterTests {
  let defaults = UserDefaults(suiteName: UUID().uuidString)!

  @Test func counts() {
    let counter = Counter(defaults: defaults)
    counter.increase()
    #expect(counter.count == 1)
    #expect(UserDefaults.standard.object(forKey: "count") == nil)
  }
}
