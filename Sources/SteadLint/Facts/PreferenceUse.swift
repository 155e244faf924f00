/// A use of preferences, or of iCloud's key-value store.
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
  /// Whether the number that's read is compared with zero, as a check for an absent value.
  let isComparedWithZero: Bool
  /// Whether it's a view's wrapped property that its file never uses, such as one that was left behind when the value
  /// moved.
  let isUnusedProperty: Bool
  /// The property whose setter or observer contains it, unless other modules or Objective-C can change the property.
  let setter: String?
  /// Whether an `@objc dynamic` property of an extension reads it, which exists to be observed.
  let isObservable: Bool
  /// Whether an XCTest test puts back what it writes, in a `defer` or in `tearDown`.
  let isPutBack: Bool
  /// Whether it's in an `if` whose condition is about a first launch or onboarding.
  let isAtFirstLaunch: Bool
  let scope: Int
  let scopeType: String
  let place: Place
  let keyPlace: Place
}
