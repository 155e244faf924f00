/// A type whose values are kept as property list values.
///
/// `String`, `Bool`, the integers, `Float`, `Double`, `Data`, `Date`, `URL`, `UUID` and `Decimal` are
/// preference values; and so are optionals, arrays, sets, ranges and dictionaries of them.
///
/// A type of your own needs the word alone where it is `RawRepresentable` or `Codable`:
///
/// ```swift
/// enum Theme: String, PreferenceValue { case system, light, dark }
/// struct Margins: Codable, PreferenceValue { var left = 0.0, right = 0.0 }
/// ```
///
/// A type that is several of these takes the first that applies, and so do typed keys and wrappers:
///
/// 1. its own ``init(propertyList:)`` and ``propertyList()``,
/// 2. its raw value, where that is a preference value,
/// 3. its `Codable` form, as a tree of property list values that any tool can read.
///
/// Reading is strict: what is stored must be of the type's kind. Only the plain values are read from one
/// another, as the methods of `UserDefaults` read them, and only where nothing is lost. So arguments of
/// the command line, which are text, give numbers and booleans.
///
/// | type | read from |
/// |---|---|
/// | `Bool` | a boolean; a number, true unless 0; text: yes, no, true, false, y, n, t, f, a whole number |
/// | integers | a whole number in range; a boolean as 1 or 0; a number without fraction; text |
/// | `Double`, `Float` | a number; a boolean as 1 or 0; text. `Float` rounds a `Double` |
/// | `String` | text; a number |
/// | `Data`, `Date` | the same |
/// | `URL` | text: a path where it begins with `/` or `~`, else an address; what `set(_: URL?)` stores |
/// | `UUID`, `Decimal` | text; `Decimal` a number as well |
public protocol PreferenceValue: SendableMetatype {
  /// Makes the value from what is stored.
  ///
  /// Throws when that is of another kind, or out of range. ``PreferencesError`` is the error of the
  /// types of this package.
  init(propertyList: PropertyList) throws

  /// What to store for this value; nil when the value stands for nothing being stored, as nil does.
  func propertyList() throws -> PropertyList?
}
