#if !canImport(SwiftUI)
  import Foundation

  // SwiftUI's initialisers, one for each type, so that what is accepted there is accepted here.

  extension AppStorage {
    /// A property with a value of `Int` or `String` for its raw value, and a default.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value while nothing is stored.
    ///   - key: The key.
    ///   - store: The preferences; nil is ``Preferences/standard``.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value: RawRepresentable, Value.RawValue == Int {
      self.init(key: .raw(key), initial: wrappedValue, store: store)
    }

    /// A property that is stored as the text that is its raw value, and a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value: RawRepresentable, Value.RawValue == String {
      self.init(key: .raw(key), initial: wrappedValue, store: store)
    }

    /// A property that is stored as the number that is its raw value, nil while nothing is stored.
    public init<R: RawRepresentable>(_ key: String, store: Preferences? = nil)
    where Value == R?, R.RawValue == Int {
      self.init(key: .nested(.raw(key)), initial: nil, store: store)
    }

    /// A property that is stored as the text that is its raw value, nil while nothing is stored.
    public init<R: RawRepresentable>(_ key: String, store: Preferences? = nil)
    where Value == R?, R.RawValue == String {
      self.init(key: .nested(.raw(key)), initial: nil, store: store)
    }

    /// A property of any other kind that preferences can keep, with a default.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value: PreferenceValue {
      self.init(key: .init(key), initial: wrappedValue, store: store)
    }

    /// A property of any other kind that preferences can keep, nil while nothing is stored.
    @_disfavoredOverload
    public init<Wrapped: PreferenceValue>(_ key: String, store: Preferences? = nil)
    where Value == Wrapped? {
      self.init(key: .init(key), initial: nil, store: store)
    }
  }

  extension AppStorage {
    /// A boolean with a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value == Bool {
      self.init(key: .init(key), initial: wrappedValue, store: store)
    }

    /// A whole number with a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value == Int {
      self.init(key: .init(key), initial: wrappedValue, store: store)
    }

    /// A number with a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value == Double {
      self.init(key: .init(key), initial: wrappedValue, store: store)
    }

    /// A text with a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value == String {
      self.init(key: .init(key), initial: wrappedValue, store: store)
    }

    /// A URL with a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value == URL {
      self.init(key: .init(key), initial: wrappedValue, store: store)
    }

    /// Data with a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value == Data {
      self.init(key: .init(key), initial: wrappedValue, store: store)
    }

    /// A date with a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value == Date {
      self.init(key: .init(key), initial: wrappedValue, store: store)
    }
  }

  extension AppStorage {
    /// A boolean, nil while nothing is stored.
    public init(_ key: String, store: Preferences? = nil) where Value == Bool? {
      self.init(key: .init(key), initial: nil, store: store)
    }

    /// A whole number, nil while nothing is stored.
    public init(_ key: String, store: Preferences? = nil) where Value == Int? {
      self.init(key: .init(key), initial: nil, store: store)
    }

    /// A number, nil while nothing is stored.
    public init(_ key: String, store: Preferences? = nil) where Value == Double? {
      self.init(key: .init(key), initial: nil, store: store)
    }

    /// A text, nil while nothing is stored.
    public init(_ key: String, store: Preferences? = nil) where Value == String? {
      self.init(key: .init(key), initial: nil, store: store)
    }

    /// A URL, nil while nothing is stored.
    public init(_ key: String, store: Preferences? = nil) where Value == URL? {
      self.init(key: .init(key), initial: nil, store: store)
    }

    /// Data, nil while nothing is stored.
    public init(_ key: String, store: Preferences? = nil) where Value == Data? {
      self.init(key: .init(key), initial: nil, store: store)
    }

    /// A date, nil while nothing is stored.
    public init(_ key: String, store: Preferences? = nil) where Value == Date? {
      self.init(key: .init(key), initial: nil, store: store)
    }
  }

  extension Preferences.Key {
    /// The key of what is stored as its raw value, even where it has another form of its own.
    fileprivate static func raw<Wrapped: RawRepresentable>(
      _ name: String
    ) -> Self where Value == Wrapped?, Wrapped.RawValue: PreferenceValue {
      Self(name: name, bridge: OptionalBridge<RawBridge<Wrapped>>.self, makeDefault: nothing())
    }
  }
#endif
