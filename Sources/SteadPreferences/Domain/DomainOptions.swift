/// How a domain's file is opened.
struct DomainOptions: Sendable, Hashable {
  /// Whether writes are refused with `PreferencesError.Code.readOnly`.
  var isReadOnly = false
  /// The most bytes of the property list; a write beyond it is refused with `.quotaExceeded`.
  var quota: Int?
  /// The format in which the property list is published.
  var format = PropertyList.Format.binary
}
