/// A type whose values are stored as property list values.
///
/// `String`, `Bool`, the integers, `Float`, `Double`, `Data`, `Date`, `URL`, `UUID` and `Decimal` are
/// preference values; so are optionals, arrays, sets, ranges and dictionaries of them.
///
/// Your own type only needs to declare conformance if it is `RawRepresentable` or `Codable`:
///
/// ```swift
/// enum Theme: String, PreferenceValue { case system, light, dark }
/// struct Margins: Codable, PreferenceValue { var left = 0.0, right = 0.0 }
/// ```
///
/// A type that is several of these uses the first form that applies, and so do typed keys and wrappers:
///
/// 1. its own ``init(propertyList:)`` and ``propertyList()``,
/// 2. its raw value, if that is a preference value,
/// 3. its `Codable` form, as a tree of property list values that any tool can read.
///
/// Reading is strict: the stored value must be of the type's kind. Only the plain values are converted into
/// one another, as the methods of `UserDefaults` do, and only without loss. So arguments of the command line,
/// which are strings, can be read as numbers and booleans.
///
/// | type | read from |
/// |---|---|
/// | `Bool` | a boolean; a number, true unless 0; string: yes, no, true, false, y, n, t, f, a whole number |
/// | integers | a whole number in range; a boolean as 1 or 0; a number without a fraction; a string |
/// | `Double`, `Float` | a number; a boolean as 1 or 0; a string. `Float` rounds a `Double` |
/// | `String` | a string; a number |
/// | `Data`, `Date` | the same |
/// | `URL` | a string: a path where it begins with `/` or `~`, else an address; what `set(_: URL?)` stores |
/// | `UUID`, `Decimal` | a string; `Decimal` also a number |
public protocol PreferenceValue: SendableMetatype {
  /// Makes the value from its stored form.
  ///
  /// Throws when that is of another kind, or out of range. This package's types throw ``PreferencesError``.
  init(propertyList: PropertyList) throws

  /// The form in which to store this value; nil when the value means that nothing is stored, as nil does.
  func propertyList() throws -> PropertyList?
}
