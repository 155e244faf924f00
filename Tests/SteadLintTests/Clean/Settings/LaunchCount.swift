import Foundation

@MainActor
final class LaunchCount {
  private static let key = "launchCount"
  private let defaults = UserDefaults(suiteName: "group.example.reader")

  func increase() {
    let count = defaults?.integer(forKey: Self.key) ?? 0
    defaults?.set(count + 1, forKey: Self.key)
  }
}
