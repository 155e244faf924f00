/// A use of preferences, or of the key-value store of iCloud.
struct PreferenceUse: Codable, Sendable {
  enum Store: String, Codable { case preferences, cloud }
  enum Access: String, Codable { case read, write, remove, wrapper, register, synchronize, observe }

  let store: Store
  let access: Access
  let method: String
  let receiver: String
  let key: KeyFact
  let value: String?
  let valueType: String?
  /// Whether the number that's read is compared with zero, which stands for an absent one.
  let isComparedWithZero: Bool
  /// Whether it's a view's wrapped property that its file never uses, such as one left behind when a value has moved.
  let isUnusedProperty: Bool
  /// The property whose setter or observer contains it, unless other modules or Objective-C can change the property.
  let setter: String?
  /// Whether it's read by an `@objc dynamic` property of an extension, which is there to be observed.
  let isObservable: Bool
  /// Whether a test of XCTest puts back what it writes: in a `defer`, or when its type tears down.
  let isPutBack: Bool
  /// Whether it's in an `if` whose condition says that the program runs for the first time.
  let isAtFirstLaunch: Bool
  let scope: Int
  let scopeType: String
  let place: Place
  let keyPlace: Place
}
