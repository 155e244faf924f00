#if !canImport(Darwin)
  import Foundation
  import SteadFormats

  /// Turns archives (`Data` of NSKeyedArchiver) into values and, in reverse, values into archives.
  ///
  /// The classes at the top and inside are limited to ``allowedTopLevelClasses``, which a subclass extends with its
  /// own. Anything that isn't an archive, or holds another class, gives nil.
  ///
  /// ```swift
  /// final class RouteTransformer: NSSecureUnarchiveFromDataTransformer {
  ///   override class var allowedTopLevelClasses: [AnyClass] {
  ///     super.allowedTopLevelClasses + [Route.self]
  ///   }
  /// }
  /// ```
  ///
  /// Archives written on Apple's systems can be read here, and vice versa. Foundation's unarchiver on Linux stops the
  /// program at an archive with a class that is not allowed or with damaged bytes, so archives of the usual classes are
  /// read without it, and others are checked before they reach it. An archive of a custom class whose contents are
  /// damaged can still stop the program: prefer a Codable property if you can choose the format.
  open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that may be in an archive, and their subclasses.
    open class var allowedTopLevelClasses: [AnyClass] { KeyedArchive.plainClasses }

    override open class func transformedValueClass() -> AnyClass { NSObject.self }

    override open class func allowsReverseTransformation() -> Bool { true }

    /// The value in an archive: `[Any]`, `[AnyHashable: Any]`, `Set<AnyHashable>`, `String`,
    /// `NSNumber`, `Date`, `Data`, `URL`, `UUID`, `NSNull`, or an object of an allowed class.
    ///
    /// - Returns: Nil for nil, for anything that isn't `Data`, and for an archive that is damaged or holds a class that
    ///   is not allowed.
    override open func transformedValue(_ value: Any?) -> Any? {
      guard let data = value as? Data else { return nil }
      return try? KeyedArchive(data, allowing: type(of: self).allowedTopLevelClasses).root()
    }

    /// An archive of a value.
    ///
    /// - Returns: Nil for nil, and for a value whose class is not allowed or cannot be archived.
    override open func reverseTransformedValue(_ value: Any?) -> Any? {
      guard let value,
        KeyedArchive.canHold(value, allowing: type(of: self).allowedTopLevelClasses)
      else { return nil }
      return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }
  }
#endif
