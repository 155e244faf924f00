/// Counts what was added to a domain's table from elsewhere: for caches derived from the table, which have to
/// know whether they are still valid.
struct DomainMarks: Equatable, Sendable {
  /// Records of other processes that were applied one by one.
  var othersRecords: UInt64 = 0
  /// How often the contents were replaced as a whole: by a new checkpoint, or an edit by hand.
  var rewrites: UInt64 = 0

  @inline(__always)
  mutating func add(_ more: DomainMarks) {
    othersRecords &+= more.othersRecords
    rewrites &+= more.rewrites
  }
}

extension DomainStore {
  /// Reads several keys as of one moment, including other processes' changes so far.
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
