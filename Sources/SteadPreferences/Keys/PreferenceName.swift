extension Preferences {
  /// The name of a key, declared once and used with a leading dot: `.isFirstLaunch`.
  ///
  /// ```swift
  /// extension Preferences.Name {
  ///   static let isFirstLaunch: Self = "isFirstLaunch"
  /// }
  /// ```
  public struct Name: RawRepresentable, Hashable, Sendable {
    /// The name as stored.
    public let rawValue: String

    /// Makes a name.
    public init(rawValue: String) { self.rawValue = rawValue }
  }
}

extension Preferences.Name: ExpressibleByStringInterpolation {
  /// Makes a name from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }
}

extension Preferences.Name: CustomStringConvertible {
  /// The name as stored.
  public var description: String { rawValue }
}
