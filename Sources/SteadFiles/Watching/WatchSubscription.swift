/// What one watcher wants to be notified of, and how.
final class WatchSubscription: Sendable {
  let directory: String
  let names: Set<String>?
  let deliver: @Sendable (_ changes: FileWatcher.Changes, _ isLast: Bool) -> Void

  init(
    directory: String, names: Set<String>?,
    deliver: @escaping @Sendable (_ changes: FileWatcher.Changes, _ isLast: Bool) -> Void
  ) {
    self.directory = directory
    self.names = names
    self.deliver = deliver
  }

  func wants(_ name: String) -> Bool { names?.contains(name) ?? true }
}

extension WatchSubscription {
  /// A notification for one watcher: the changes, and whether they are the last.
  struct Delivery: Sendable {
    let subscription: WatchSubscription
    var changes: FileWatcher.Changes
    var isLast = false

    func send() { subscription.deliver(changes, isLast) }
  }
}
