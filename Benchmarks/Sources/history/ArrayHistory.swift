import Foundation

/// The pattern without a history: an array as JSON under one key of Foundation's `UserDefaults`.
final class ArrayHistory {
  private static let key = "prompts"
  private let defaults: UserDefaults
  private let limit: Int
  private var entries: [Prompt]

  init(entries: [Prompt]) throws {
    guard let defaults = UserDefaults(suiteName: "bench-array") else { throw SuiteError() }
    self.defaults = defaults
    self.entries = entries
    limit = entries.count
    try save()
  }

  /// Adds an entry so that it survives the end of the process, as a history does.
  func add(_ prompt: Prompt) throws {
    entries.insert(prompt, at: 0)
    if entries.count > limit { entries.removeLast(entries.count - limit) }
    try save()
  }

  private func save() throws {
    defaults.set(try JSONEncoder().encode(entries), forKey: Self.key)
    guard defaults.synchronize() else { throw SuiteError() }
  }

  struct SuiteError: Error {}
}
