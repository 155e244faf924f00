import Foundation

enum Theme: String, Codable, CaseIterable {
  case system, light, dark
}

struct ThemeStore {
  let defaults: UserDefaults
  private static let key = "themeName"

  var theme: Theme {
    get { defaults.string(forKey: Self.key).flatMap(Theme.init) ?? .system }
    nonmutating set { defaults.set(newValue.rawValue, forKey: Self.key) }
  }
}
