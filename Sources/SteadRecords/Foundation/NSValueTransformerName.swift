#if !canImport(Darwin)
  /// The name that a ``ValueTransformer`` is registered under.
  public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name itself.
    public var rawValue: String

    /// Creates a name from a string.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates a name from a string.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Turns true to false and false to true.
    public static let negateBooleanTransformerName = Self("NSNegateBoolean")
    /// True for nil.
    public static let isNilTransformerName = Self("NSIsNil")
    /// True for anything but nil.
    public static let isNotNilTransformerName = Self("NSIsNotNil")
    /// Values to archives of them and back, see ``NSSecureUnarchiveFromDataTransformer``.
    public static let secureUnarchiveFromDataTransformerName = Self("NSSecureUnarchiveFromData")
  }
#endif
