/// A property whose value is a typed key's in preferences.
///
/// ```swift
/// struct Reader {
///   @Preference(\.theme) var theme
/// }
/// reader.theme = .dark
/// for await change in reader.$theme { redraw(change.new) }
/// ```
///
/// Nothing is stored in the property: each read and each write goes to the preferences, so all
/// properties of one key agree. Works in structs, classes and actors, and may be used on any
/// thread.
@propertyWrapper
public struct Preference<Value: Sendable>: Sendable {
  @usableFromInline let key: Preferences.Key<Value>
  @usableFromInline let store: Preferences?

  /// A property with the value of a key that ``Preferences/Keys`` declares.
  ///
  /// - Parameters:
  ///   - path: The key.
  ///   - store: The preferences; nil means ``Preferences/standard``.
  @inlinable
  public init(
    _ path: KeyPath<Preferences.Keys, Preferences.Key<Value>>, store: Preferences? = nil
  ) {
    self.init(Preferences.Keys()[keyPath: path], store: store)
  }

  /// A property with the value of a key that is declared elsewhere than in ``Preferences/Keys``.
  public init(_ key: Preferences.Key<Value>, store: Preferences? = nil) {
    self.key = key
    self.store = store
  }

  @usableFromInline var preferences: Preferences { store ?? .standard }

  /// The value, as the subscript of ``Preferences`` reads and writes it: errors go to `onError`.
  @inlinable
  public var wrappedValue: Value {
    get { preferences[key] }
    nonmutating set { preferences[key] = newValue }
  }

  /// The property's changes and its other operations: `for await change in $theme`.
  public var projectedValue: PreferenceProjection<Value> {
    PreferenceProjection(key: key, preferences: preferences)
  }
}

// MARK: - Projected values

/// The value of `$theme` for a property `@Preference(\.theme) var theme`: its changes as an
/// asynchronous sequence.
///
/// ```swift
/// for await change in reader.$theme { redraw(change.new) }
/// ```
public struct PreferenceProjection<Value: Sendable>: Sendable {
  let key: Preferences.Key<Value>
  let preferences: Preferences

  /// Whether the key has been set: whether any domain except the registered defaults has a value.
  public var isSet: Bool { preferences.isSet(key) }

  /// Removes the stored value, so that the default applies again.
  public func reset() { preferences.reset(key) }

  /// The value as a binding, for a control that knows nothing about preferences.
  public var binding: PreferenceBinding<Value> {
    PreferenceBinding {
      preferences[key]
    } set: { value in
      preferences[key] = value
    }
  }
}

extension PreferenceProjection: AsyncSequence {
  /// A change with the value before it.
  public typealias Element = PreferenceChange<Value>
  /// It cannot fail.
  public typealias Failure = Never

  /// The changes from now on.
  public func makeAsyncIterator() -> TypedPreferenceChanges<Value>.Iterator {
    changes.makeAsyncIterator()
  }

  /// The changes from now on: values set before the first `await` are not missed.
  public var changes: TypedPreferenceChanges<Value> { preferences.changes(for: key) }

  /// Calls a handler with each change, until the returned object is released or cancelled. Keep it.
  public func observe(
    includingOwn: Bool = true, _ handler: @escaping @Sendable (PreferenceChange<Value>) -> Void
  ) -> PreferenceObservation {
    preferences.observe(key, includingOwn: includingOwn, handler)
  }
}

/// Reads and writes a value that is stored elsewhere, for code that does not know where, as
/// SwiftUI's `Binding`.
///
/// It is the value of `$volume` for a property `@AppStorage("volume") var volume = 0.5`. A member
/// of the value has its own binding: `$margins.left`.
@propertyWrapper
@dynamicMemberLookup
public struct PreferenceBinding<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void

  /// Makes a binding of two functions, which are called on the thread of each read and write.
  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
    self.get = get
    self.set = set
  }

  /// A binding to a value that never changes; writing it does nothing.
  public static func constant(_ value: Value) -> PreferenceBinding {
    PreferenceBinding {
      value
    } set: { _ in
    }
  }

  /// The value, read and written through the two functions.
  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }

  /// The binding itself.
  public var projectedValue: PreferenceBinding { self }

  /// The binding to a member of the value. Setting it reads and writes the whole value.
  public subscript<Member>(
    dynamicMember path: WritableKeyPath<Value, Member>
  ) -> PreferenceBinding<Member> {
    PreferenceBinding<Member> {
      get()[keyPath: path]
    } set: { member in
      // Read again at each write, so that the other members are those that are stored now.
      var value = get()
      value[keyPath: path] = member
      set(value)
    }
  }
}
