/// Reads and writes a value that is stored elsewhere, for code that does not know where.
///
/// The value of `$volume` for a property `@AppStorage("volume") var volume = 0.5`, where SwiftUI has a
/// `Binding`. A member of the value has its own binding: `$margins.left`.
@propertyWrapper
@dynamicMemberLookup
public struct PreferenceBinding<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void

  /// A binding that calls two functions to read and write.
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

  /// The value.
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
      var value = get()
      value[keyPath: path] = member
      set(value)
    }
  }
}
