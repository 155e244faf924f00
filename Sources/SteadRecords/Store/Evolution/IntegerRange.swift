/// The numbers that an integer type holds.
struct IntegerRange {
  let least: Int64
  let greatest: UInt64

  init?(_ type: any Any.Type) {
    guard let integer = type as? any FixedWidthInteger.Type else { return nil }
    self.init(of: integer)
  }

  private init<T: FixedWidthInteger>(of type: T.Type) {
    least = Int64(clamping: T.min)
    greatest = UInt64(clamping: T.max)
  }

  func contains(_ other: IntegerRange) -> Bool {
    least <= other.least && greatest >= other.greatest
  }
}
