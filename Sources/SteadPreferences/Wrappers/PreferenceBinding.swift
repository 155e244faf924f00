/// A value that is kept elsewhere, to be read and written by what does not know where.
///
/// What `$volume` gives of a property `@AppStorage("volume") var volume = 0.5`, where SwiftUI gives a
/// `Binding`. A member of the value has a binding of its own: `$margins.left`.
@propertyWrapper
@dynamicMemberLookup
public struct PreferenceBinding<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void

  /// A binding to what two functions read and write.
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
