import SteadSQLite
internal import SteadSyncProtocol

/// The values of attributes that have merge rules, on the wire.
///
/// A counter has each device's total. A union is an array, which a column holds as JSON. Greatest and smallest values
/// have no special form.
enum MergedValue {
  /// - Parameter known: The record's value; nil for a new record.
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

  /// Nil for a value that no column of this version can hold.
  static func column(_ value: SyncValue, _ rule: MergeRule) -> SQLValue? {
    switch (rule, value) {
    case (.counter, .object): .integer(SyncCounter.total(value))
    case (.union, .array): .text(String(decoding: value.encoded(), as: UTF8.self))
    default: ColumnCoding.column(value)
    }
  }
}
