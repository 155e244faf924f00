import SteadSQLite
import SteadSyncProtocol

/// The values of attributes that have merge rules, on the wire.
///
/// A counter is what each device has added. A union is an array, which a column has as JSON. Greatest and smallest values
/// are as others.
enum MergedValue {
  /// - Parameter known: What the record has; nil for a record that is new.
  static func value(
    _ column: SQLValue, _ rule: MergeRule, known: SyncValue?, device: DeviceID
  ) -> SyncValue {
    switch (rule, column) {
    case (.counter, .integer(let number)):
      let added = number &- SyncCounter.total(known ?? .null)
      if added == 0, let known, known.object != nil { return known }
      return SyncCounter.adding(added, to: known ?? .null, by: device)
    case (.union, .text(let text)):
      return (try? SyncValue(encoded: text.utf8)) ?? .string(text)
    default: return ColumnCoding.value(column)
    }
  }

  /// nil for a value that no column of this version has.
  static func column(_ value: SyncValue, _ rule: MergeRule) -> SQLValue? {
    switch (rule, value) {
    case (.counter, .object): .integer(SyncCounter.total(value))
    case (.union, .array): .text(String(decoding: value.encoded(), as: UTF8.self))
    default: ColumnCoding.column(value)
    }
  }
}
