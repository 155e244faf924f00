/// What came into a domain's table from elsewhere, counted: for those who keep something that they made
/// of the table, and have to know whether it is still right.
struct DomainMarks: Equatable, Sendable {
  /// Records of other processes that were taken in one by one.
  var othersRecords: UInt64 = 0
  /// How often contents were taken in as a whole: a new checkpoint, or an edit by hand.
  var rewrites: UInt64 = 0

  @inline(__always)
  mutating func add(_ more: DomainMarks) {
    othersRecords &+= more.othersRecords
    rewrites &+= more.rewrites
  }
}

extension DomainStore {
  /// Reads several keys as they are at one moment, with what others have written so far.
  ///
  /// `body` runs under the domain's lock: it must not take another, nor call a program's own code.
  func withTable<Result>(_ body: (borrowing DomainTable, DomainMarks) -> Result) -> Result {
    var hasNews = false
    let result = state.withLock { state -> Result in
      if state.hasNews, let file = state.file { hasNews = state.catchUp(file) }
      return body(state.table, state.marks)
    }
    if hasNews { deliverLater() }
    return result
  }
}
