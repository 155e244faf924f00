#if !canImport(Darwin)
  public import Foundation
  import SteadFormats

  /// Turns values of one kind into values of another, and back where that is possible: Foundation's
  /// class of this name, which Linux lacks.
  ///
  /// ```swift
  /// final class ColorTransformer: ValueTransformer {
  ///   override class func allowsReverseTransformation() -> Bool { true }
  ///   override func transformedValue(_ value: Any?) -> Any? { (value as? Color)?.data }
  ///   override func reverseTransformedValue(_ value: Any?) -> Any? {
  ///     (value as? Data).flatMap(Color.init(data:))
  ///   }
  /// }
  /// ValueTransformer.setValueTransformer(
  ///   ColorTransformer(), forName: NSValueTransformerName("ColorTransformer"))
  /// ```
  ///
  /// All threads share one registered transformer, so it must not have mutable state.
  open class ValueTransformer: NSObject, _RegisteredByName {
    /// A transformer; required of every subclass, since columns are declared by the class alone.
    override public required init() { super.init() }

    /// Registers a transformer for the whole process, or removes the one with that name if it is nil.
    ///
    /// Safe on any thread. Register it before a container with such a property is opened.
    open class func setValueTransformer(
      _ transformer: ValueTransformer?, forName name: NSValueTransformerName
    ) {
      TransformerRegistry.shared.set(transformer, for: name)
    }

    /// The names of registered transformers, including the system's.
    ///
    /// In no particular order.
    open class func valueTransformerNames() -> [NSValueTransformerName] {
      TransformerRegistry.shared.names
    }

    /// The class of the resulting values; `NSObject` unless overridden.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether ``reverseTransformedValue(_:)`` undoes ``transformedValue(_:)``; false unless overridden.
    ///
    /// A stored property needs the reverse: a value that cannot be read back is not saved.
    open class func allowsReverseTransformation() -> Bool { false }

    /// The transformed value; the value itself unless overridden.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value transformed back, by default with ``transformedValue(_:)``.
    ///
    /// Returns nil if ``allowsReverseTransformation()`` is false.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
      type(of: self).allowsReverseTransformation() ? transformedValue(value) : nil
    }
  }

  // MARK: - Transformers by name

  /// Gives ``ValueTransformer`` an initialiser that returns an existing object; only the extension of a protocol that
  /// is not limited to classes may assign `self`.
  public protocol _RegisteredByName {}

  extension _RegisteredByName {
    /// The transformer with a name.
    ///
    /// If none is registered, but a transformer class of that name exists (with its module, as in
    /// `App.ColorTransformer`), one is made and registered. Nil if neither exists.
    public init?(forName name: NSValueTransformerName) {
      guard let found = TransformerRegistry.shared.transformer(for: name) as? Self else {
        return nil
      }
      self = found
    }
  }

  /// The transformers of the process by their names.
  ///
  /// Unchecked, since transformers are not Sendable: the table itself is only touched under the lock, and threads share
  /// a registered transformer on Apple's systems, too, as ``ValueTransformer`` documents.
  private final class TransformerRegistry: @unchecked Sendable {
    static let shared = TransformerRegistry()

    private let lock = NSLock()
    private var transformers: [NSValueTransformerName: ValueTransformer] = [
      .negateBooleanTransformerName: NegateBooleanTransformer(),
      .isNilTransformerName: IsNilTransformer(),
      .isNotNilTransformerName: IsNotNilTransformer(),
      .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
      // Its class's name, by which Apple's systems find it, too.
      NSValueTransformerName("NSSecureUnarchiveFromDataTransformer"):
        NSSecureUnarchiveFromDataTransformer(),
    ]

    /// The names of all registered transformers.
    var names: [NSValueTransformerName] { lock.withLock { Array(transformers.keys) } }

    /// Registers a transformer, or removes the one of a name.
    func set(_ transformer: ValueTransformer?, for name: NSValueTransformerName) {
      lock.withLock { transformers[name] = transformer }
    }

    /// The transformer of a name. If none is registered, one is made of the class of that name.
    func transformer(for name: NSValueTransformerName) -> ValueTransformer? {
      if let found = lock.withLock({ transformers[name] }) { return found }
      guard let type = NSClassFromString(name.rawValue) as? ValueTransformer.Type else {
        return nil
      }
      // Outside the lock: the initializer is the app's code, and may ask for another transformer.
      let made = type.init()
      return lock.withLock {
        // Another thread may have registered one first, and all must get the same one.
        if let found = transformers[name] { return found }
        transformers[name] = made
        return made
      }
    }
  }

  // MARK: - Foundation's own transformers

  /// Foundation's transformer of this name.
  private final class NegateBooleanTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { !(value as? Bool ?? false) }
  }

  /// Foundation's transformer of this name.
  private final class IsNilTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override func transformedValue(_ value: Any?) -> Any? { value == nil }
  }

  /// Foundation's transformer of this name.
  private final class IsNotNilTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override func transformedValue(_ value: Any?) -> Any? { value != nil }
  }

  // MARK: - Archives

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

  // MARK: - Names

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
