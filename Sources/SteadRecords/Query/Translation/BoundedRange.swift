/// A range known before the query runs.
protocol BoundedRange {
  var lower: Constant? { get }
  var upper: Constant? { get }
  var isClosed: Bool { get }
}
extension Range: BoundedRange {
  var lower: Constant? { Constant(lowerBound) }
  var upper: Constant? { Constant(upperBound) }
  var isClosed: Bool { false }
}
extension ClosedRange: BoundedRange {
  var lower: Constant? { Constant(lowerBound) }
  var upper: Constant? { Constant(upperBound) }
  var isClosed: Bool { true }
}
extension PartialRangeFrom: BoundedRange {
  var lower: Constant? { Constant(lowerBound) }
  var upper: Constant? { nil }
  var isClosed: Bool { true }
}
extension PartialRangeThrough: BoundedRange {
  var lower: Constant? { nil }
  var upper: Constant? { Constant(upperBound) }
  var isClosed: Bool { true }
}
extension PartialRangeUpTo: BoundedRange {
  var lower: Constant? { nil }
  var upper: Constant? { Constant(upperBound) }
  var isClosed: Bool { false }
}
