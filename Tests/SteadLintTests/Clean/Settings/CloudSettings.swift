import Foundation

final class CloudSettings {
  private let store = NSUbiquitousKeyValueStore.default

  init() { store.synchronize() }

  var theme: String {
    get { store.string(forKey: "theme") ?? "system" }
    set { store.set(newValue, forKey: "theme") }
  }
}
