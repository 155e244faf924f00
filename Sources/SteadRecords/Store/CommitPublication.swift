/// The commits within the open write transaction of a store, on their way to the contexts of this process.
///
/// Invariant: their numbers rise. They are in the log before a reader can see them, and are retracted if they are rolled
/// back. Contexts are notified once the store's lock was released, so that one whose turn begins at once does not wait
/// for it.
///
/// Used under the store's write lock; an ``Announcement`` without it.
struct CommitPublication {
  private let log: CommitLog
  /// The numbers of the commits, each of which is retracted if it is rolled back.
  private var numbers: [Int64] = []

  init(_ log: CommitLog) { self.log = log }

  /// How many commits there are.
  var count: Int { numbers.count }
  /// Whether there are none, so that no row has changed.
  var isEmpty: Bool { numbers.isEmpty }

  /// Puts a commit in the log, before it becomes visible: a reader that sees it finds its rows there.
  ///
  /// - Parameters:
  ///   - author: The context that wrote, which needs no news of its own rows; nil if it was none.
  ///   - rows: The written rows; nil if any row may have changed.
  mutating func post(_ number: Int64, from author: ObjectIdentifier?, rows: CommitLog.Rows?) {
    log.post(number, from: author, rows: rows)
    numbers.append(number)
  }

  /// Retracts the last commit, whose author learns by an error that it was not made.
  mutating func retractLast() { log.retract(numbers.removeLast()) }

  /// Retracts the commits within a transaction that was rolled back, the last ones first.
  ///
  /// - Parameter place: How many there were when it began.
  mutating func retract(from place: Int) {
    guard place < numbers.count else { return }
    // Backwards, since the log searches from its end.
    for number in numbers[place...].reversed() { log.retract(number) }
    numbers.removeSubrange(place...)
    // Their authors take their objects for saved: what they have is read again, by everybody.
    log.noteOutsider()
  }

  /// Forgets the commits of a transaction that has ended.
  mutating func removeAll() { numbers = [] }

  /// What contexts are told once the transaction is committed and its lock released.
  ///
  /// - Parameters:
  ///   - newest: The last commit.
  ///   - author: The context that has made it.
  func announcement(of newest: CommitLog.Point, from author: ObjectIdentifier?) -> Announcement {
    Announcement(log: log, newest: newest, author: author, isOfSeveral: numbers.count > 1)
  }

  /// The news of a transaction that was committed.
  struct Announcement {
    fileprivate let log: CommitLog
    fileprivate let newest: CommitLog.Point
    fileprivate let author: ObjectIdentifier?
    fileprivate let isOfSeveral: Bool

    /// Raises what the log knows, and asks the other contexts to look. Called without the store's lock.
    func send() {
      log.didCommit(newest)
      // The watcher of the file reports this commit, too, which then need not be announced again.
      log.tell(newest.number)
      if isOfSeveral || log.hasSeveralContexts { log.notify(from: author) }
    }
  }
}
