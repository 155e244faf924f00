/// A number that several devices add to: `{"device": [edits, total], …}`. Its value is the sum of the totals.
///
/// Each device writes its own total, never an increment, so that a repetition changes nothing. Of two entries of one
/// device, the one with more edits is the later one.
package enum SyncCounter {
  /// The sum; malformed entries count nothing, and a sum beyond 64 bits wraps around.
  package static func total(_ value: SyncValue) -> Int64 {
    (value.object ?? [:]).values.reduce(0) { $0 &+ (entry($1)?.total ?? 0) }
  }

  /// The value to write for an addition: only the device's own entry, which merging adds to the others'.
  package static func adding(_ amount: Int64, to value: SyncValue, by device: DeviceID) -> SyncValue
  {
    let own = own(of: value, by: device)
    return .object([device.text: [.int(own.edits &+ 1), .int(own.total &+ amount)]])
  }

  /// The device's entry alone; null for none.
  static func own(_ value: SyncValue, by device: DeviceID) -> SyncValue {
    value.object?[device.text].map { .object([device.text: $0]) } ?? .null
  }

  /// How often a device has added, and how much in all.
  static func own(
    of value: SyncValue, by device: DeviceID
  ) -> (edits: Int64, total: Int64) {
    value.object?[device.text].flatMap(entry) ?? (0, 0)
  }

  static func merged(_ one: SyncValue, _ other: SyncValue) -> SyncValue? {
    guard let first = one.object, let second = other.object else { return nil }
    return .object(first.merging(second, uniquingKeysWith: Swift.max))
  }

  private static func entry(_ value: SyncValue) -> (edits: Int64, total: Int64)? {
    guard let numbers = value.array, numbers.count == 2, let edits = numbers[0].int,
      let total = numbers[1].int
    else { return nil }
    return (edits, total)
  }
}
