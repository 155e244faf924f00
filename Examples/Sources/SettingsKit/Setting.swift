import Observation

/// One setting that views read, set and observe, as with SwiftUI's `@AppStorage`.
///
/// ```swift
/// let fontSize = Setting("fontSize", default: 12, in: PreferencesProvider())
/// fontSize.value += 1
/// ```
///
/// Reading the value registers with Observation. A change by another process arrives between two turns of the main actor.
@MainActor @Observable
public final class Setting<Value: Codable & Equatable & Sendable> {
  private let key: String
  private let provider: any SettingsProvider
  private let defaultValue: Value
  private var current: Value
  @ObservationIgnored private var observation: (any Sendable)?

  /// Why the newest value could not be kept; nil once one was.
  public private(set) var problem: (any Error)?

  public init(_ key: String, default value: Value, in provider: any SettingsProvider) {
    self.key = key
    self.provider = provider
    defaultValue = value
    current = provider.value(forKey: key, as: Value.self) ?? value
    // Not on the main actor yet: another process's change is noticed on a queue.
    observation = provider.observe(key) { [weak self] in
      Task { @MainActor in self?.reload() }
    }
  }

  public var value: Value {
    get { current }
    set {
      do {
        try provider.set(newValue, forKey: key)
        problem = nil
      } catch {
        problem = error
      }
      reload()
    }
  }

  /// Removes what is kept, so that the default counts again.
  public func reset() throws {
    try provider.set(Value?.none, forKey: key)
    reload()
  }

  private func reload() {
    let newest = provider.value(forKey: key, as: Value.self) ?? defaultValue
    // Views are drawn again for each assignment.
    if newest != current { current = newest }
  }
}
