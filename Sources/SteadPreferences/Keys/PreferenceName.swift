extension Preferences {
  /// The name of a key, declared once and told by its dot: `.isFirstLaunch`.
  ///
  /// ```swift
  /// extension Preferences.Name {
  ///   static let isFirstLaunch: Self = "isFirstLaunch"
  /// }
  /// ```
  public struct Name: RawRepresentable, Hashable, Sendable {
    /// The name as it is stored.
    public let rawValue: String

    /// A name.
    public init(rawValue: String) { self.rawValue = rawValue }
  }
}

extension Preferences.Name: ExpressibleByStringInterpolation {
  /// A name from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }
}

extension Preferences.Name: CustomStringConvertible {
  /// The name as it is stored.
  public var description: String { rawValue }
}
