/// What the place of an expression allows its SQL to be.
enum TranslationMode {
  /// The value itself.
  case exact
  /// A condition: NULL counts as false.
  case condition
  /// A condition that may also accept rows that do not match, if the translation notes it.
  case filter

  var nullIsFalse: Bool { self != .exact }
  /// A condition that must be exact, yet may be NULL for false.
  var withoutExcess: TranslationMode { self == .filter ? .condition : self }
}
