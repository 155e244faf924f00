import Foundation

final class RecentFiles {
  private static let key = "recentFiles"
  private static let limit = 20
  private let defaults: UserDefaults
  private(set) var names: [String] = []

  init(defaults: UserDefaults) {
    self.defaults = defaults
    names = defaults.stringArray(forKey: Self.key) ?? []
  }

  func opened(_ url: URL) {
    names.insert(url.lastPathComponent, at: 0)
    names = Array(names.prefix(Self.limit))
    defaults.set(names, forKey: Self.key)
  }
}
