/// The policy's data about an entry: its place in its queue and in the wheel, its cost, and its expiry.
@usableFromInline struct PolicyNode {
  /// No node.
  @inlinable static var none: Int32 { -1 }
  /// The deadline of what never expires.
  @inlinable static var never: Int64 { Int64.max }

  enum Queue: UInt8 {
    case none, window, probation, protected
  }

  var hash: UInt64 = 0
  var cost = 0
  /// In nanoseconds of the cache's clock.
  var deadline = PolicyNode.never
  /// The neighbours in the queue; of a free node, `older` is the next free one.
  var newer = PolicyNode.none
  var older = PolicyNode.none
  /// The neighbours in the wheel's bucket.
  var next = PolicyNode.none
  var previous = PolicyNode.none
  var bucket = ExpiryWheel.noBucket
  var queue = Queue.none
}
