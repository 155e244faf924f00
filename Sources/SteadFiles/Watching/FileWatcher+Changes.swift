extension FileWatcher {
  /// The changes since the last element.
  public struct Changes: Sendable, Hashable {
    /// The names of the changed files in the directory; empty when anything may have changed.
    public internal(set) var names: Set<String>

    /// Whether anything in the directory may have changed: check everything that matters.
    ///
    /// This happens when the system dropped changes because there were too many, or the directory has gone.
    public var isEverything: Bool { names.isEmpty }

    static let everything = Changes(names: [])

    mutating func formUnion(_ other: Changes) {
      guard !isEverything else { return }
      if other.isEverything {
        self = .everything
      } else {
        names.formUnion(other.names)
        if names.count > FileWatcher.nameLimit { self = .everything }
      }
    }
  }

  /// Waits for changes, one after the other; it ends with its task or its watcher.
  public struct AsyncIterator: AsyncIteratorProtocol {
    // A sequence that nobody else holds must stay alive while it is iterated over.
    private let watcher: FileWatcher
    private let mailbox: ChangeMailbox
    private var signals: AsyncStream<Void>.AsyncIterator

    init(watcher: FileWatcher, mailbox: ChangeMailbox) {
      self.watcher = watcher
      self.mailbox = mailbox
      signals = mailbox.signals.makeAsyncIterator()
    }

    /// The changes since the last call; nil when the sequence has ended.
    public mutating func next() async -> Changes? {
      await next(isolation: nil)
    }

    /// The changes since the last call; nil when the sequence has ended.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Changes? {
      while await signals.next(isolation: actor) != nil {
        if let changes = mailbox.take() { return changes }
      }
      return nil
    }
  }
}
