import SteadFiles

/// The subscriptions of a sequence of changes. The first begins with the sequence, so that changes before its
/// iteration are not missed.
struct ChangeSubscriptions<Pending: PendingChanges>: Sendable {
  private let begin: ChangeSubscription<Pending>.Beginning
  private let first: ForkSafeLock<ChangeSubscription<Pending>?>

  init(_ begin: @escaping ChangeSubscription<Pending>.Beginning) {
    self.begin = begin
    first = ForkSafeLock(ChangeSubscription(begin))
  }

  func next() -> ChangeSubscription<Pending> {
    let first = first.withLock { first in
      defer { first = nil }
      return first
    }
    return first ?? ChangeSubscription(begin)
  }
}
