import Foundation
import SteadPreferences

/// The two stores that race; their methods have the same names.
enum Store: String, CaseIterable {
  case foundation
  case stead

  /// The domain that all processes write into.
  static let suite = "com.example.race"

  var title: String {
    switch self {
    case .foundation: "Foundation's UserDefaults"
    case .stead: "Preferences"
    }
  }

  /// What each process does for each key.
  var swift: String {
    switch self {
    // Without the second call nothing would be left when the process ends.
    case .foundation: "defaults.set(value, forKey: key); defaults.synchronize()"
    case .stead: "preferences.set(value, forKey: key)"
    }
  }

  func write(_ entries: [(key: String, value: Int)]) throws {
    switch self {
    case .foundation:
      let defaults = try UserDefaults(suiteName: Self.suite).orThrow()
      for entry in entries {
        defaults.set(entry.value, forKey: entry.key)
        defaults.synchronize()
      }
    case .stead:
      let preferences = try Preferences(suiteName: Self.suite).orThrow()
      for entry in entries { preferences.set(entry.value, forKey: entry.key) }
    }
  }

  func reader() throws -> (String) -> Int {
    switch self {
    case .foundation:
      let defaults = try UserDefaults(suiteName: Self.suite).orThrow()
      return { defaults.integer(forKey: $0) }
    case .stead:
      let preferences = try Preferences(suiteName: Self.suite).orThrow()
      return { preferences.integer(forKey: $0) }
    }
  }
}

struct RaceError: Error, CustomStringConvertible {
  var description: String
}

extension Optional {
  fileprivate func orThrow() throws -> Wrapped {
    guard let self else { throw RaceError(description: "The domain could not be opened.") }
    return self
  }
}
