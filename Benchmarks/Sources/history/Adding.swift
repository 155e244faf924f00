import BenchmarkHarness
import Foundation
import SteadPreferences

/// One more entry at the front of a full history, which drops its oldest.
enum Adding {
  private static let large = 5_000
  private static let small = 100
  private static let callCount = 2_000

  static var comparisons: [Comparison] { [bySize, besideFoundation] }

  private static var bySize: Comparison {
    Comparison(
      name: "add-size", title: "add 1 KB to 5,000 entries / to 100", limit: .ratio(2)
    ) { directory in
      let preferences = try Preferences(domain: "bench", directory: directory)
      return try [large, small].map { count in
        let history = try filled(count, in: preferences)
        return Comparison.Peer(name: "at \(count.grouped)") { try add(callCount, to: history) }
      }
    }
  }

  private static var besideFoundation: Comparison {
    Comparison(
      name: "add-foundation", title: "add 1 KB to 5,000 entries: Stead / array in UserDefaults",
      limit: .ratio(1.0 / 500)
    ) { directory in
      let preferences = try Preferences(domain: "bench", directory: directory)
      let history = try filled(large, in: preferences)
      let array = try ArrayHistory(entries: entries(large))
      return [
        Comparison.Peer(name: "Stead") { try add(callCount, to: history) },
        Comparison.Peer(name: "UserDefaults") { try timed { try array.add(Prompt(number: 0)) } },
      ]
    }
  }

  private static func entries(_ count: Int) -> [Prompt] { (0..<count).map(Prompt.init) }

  private static func filled(
    _ count: Int, in preferences: Preferences
  ) throws -> PayloadHistory<Prompt> {
    let history = try PayloadHistory<Prompt>("prompts-\(count)", limit: count, in: preferences)
    try history.prepend(contentsOf: entries(count))
    return history
  }

  /// The nanoseconds of one call.
  private static func add(_ count: Int, to history: PayloadHistory<Prompt>) throws -> Double {
    let new = entries(count)
    let time = try timed { for prompt in new { try history.prepend(prompt) } }
    return time / Double(count)
  }
}
