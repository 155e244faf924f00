import Foundation

/// Recognises `\.rawValue`, whose key path differs between the module of the enum and this one.
enum RawValueKeyPath {
  /// Whether the key path returns the raw value of every case of an enum.
  ///
  /// Only types that list their cases can be asked.
  static func isRawValue(_ keyPath: AnyKeyPath, of type: Any.Type) -> Bool {
    guard let type = type as? any CaseIterable.Type else { return false }
    return check(keyPath, type)
  }

  private static func check<C: CaseIterable>(_ keyPath: AnyKeyPath, _ type: C.Type) -> Bool {
    guard let path = keyPath as? PartialKeyPath<C>, !C.allCases.isEmpty else { return false }
    return C.allCases.allSatisfy { value in
      guard let raw = value as? any RawRepresentable else { return false }
      return equal(raw, value[keyPath: path])
    }
  }

  private static func equal<R: RawRepresentable>(_ value: R, _ other: Any) -> Bool {
    func same<E: Equatable>(_ one: E) -> Bool { (other as? E) == one }
    guard let raw = value.rawValue as? any Equatable else { return false }
    return same(raw)
  }
}
