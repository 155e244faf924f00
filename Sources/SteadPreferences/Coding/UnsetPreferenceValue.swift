/// A preference value with a natural reading where nothing is stored: what `UserDefaults` gives then.
///
/// False, 0, an empty text, no bytes, no elements, and nil. A property with the wrapper
/// ``UserDefault`` needs no default where its type is one of these.
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
