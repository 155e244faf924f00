/// A preference value with a natural value while nothing is stored: the one that `UserDefaults` returns.
///
/// False, 0, an empty string, empty data, no elements, and nil. A property with the wrapper ``UserDefault``
/// needs no default if its type is one of these.
public protocol UnsetPreferenceValue: PreferenceValue {
  /// The value while nothing is stored.
  static var whileUnset: Self { get }
}

extension Int: UnsetPreferenceValue {}
extension Int8: UnsetPreferenceValue {}
extension Int16: UnsetPreferenceValue {}
extension Int32: UnsetPreferenceValue {}
extension Int64: UnsetPreferenceValue {}
extension UInt: UnsetPreferenceValue {}
extension UInt8: UnsetPreferenceValue {}
extension UInt16: UnsetPreferenceValue {}
extension UInt32: UnsetPreferenceValue {}
extension UInt64: UnsetPreferenceValue {}
