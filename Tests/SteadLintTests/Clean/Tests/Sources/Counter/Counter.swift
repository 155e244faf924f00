import Foundation

public final class Counter {
  private let defaults: UserDefaults
  private static let key = "count"

  public init(defaults: UserDefaults) { self.defaults = defaults }

  public var count: Int { defaults.integer(forKey: Self.key) }
  public func increase() { defaults.set(count + 1, forKey: Self.key) }
}
