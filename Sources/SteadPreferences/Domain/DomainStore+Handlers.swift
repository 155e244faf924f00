import Foundation
import SteadFiles

extension DomainStore {
  /// Where other processes' changes, and what reads have found, are delivered.
  static let deliveries = SerialCalls()

  /// Calls `handler` after each change, in order, until ``removeHandler(_:)``.
  ///
  /// It is called on the thread that wrote; for another process's changes on a background thread. The first
  /// handler starts the delivery of those.
  func addHandler(_ handler: @escaping @Sendable (DomainEvent) -> Void) -> UInt64 {
    follow(handler).token
  }

  /// As ``addHandler(_:)``, and returns the number of the last event that the handler will not receive.
  func follow(
    _ handler: @escaping @Sendable (DomainEvent) -> Void
  ) -> (token: UInt64, received: UInt64) {
    let (token, received, hasMail) = state.withLock { state -> (UInt64, UInt64, Bool) in
      // Deliver only changes made after registration.
      if let file = state.file { _ = state.catchUp(file) }
      state.lastHandler += 1
      state.handlers[state.lastHandler] = handler
      // A plain file's changes are reported as edits by hand are.
      if state.handlers.count == 1, let file = state.file, !file.isPlain {
        do {
          try file.journal.listen()
        } catch {
          file.problems.add(PreferencesError(error, domain: name))
        }
      }
      let received = state.mail.first.map { $0.number - 1 } ?? state.lastEvent
      return (state.lastHandler, received, state.hasMail)
    }
    if hasMail { deliverLater() }
    startWatching()
    return (token, received)
  }

  /// Reverts ``addHandler(_:)``; a running call may still finish.
  func removeHandler(_ token: UInt64) {
    // The handler's captures may have locks, so they are not released while this one is held.
    let removed = state.withLock { state in
      let removed = state.handlers.removeValue(forKey: token)
      if removed != nil, state.handlers.isEmpty { state.file?.journal.stopListening() }
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// Calls `handler` with errors that no call could throw, including those already waiting.
  func addProblemHandler(
    _ handler: @escaping @Sendable (PreferencesError) -> Void
  ) -> UInt64 {
    let token = state.withLock { state -> UInt64 in
      state.lastHandler += 1
      state.problemHandlers[state.lastHandler] = handler
      return state.lastHandler
    }
    deliver()
    return token
  }

  /// Reverts ``addProblemHandler(_:)``.
  func removeProblemHandler(_ token: UInt64) {
    let removed = state.withLock { state in state.problemHandlers.removeValue(forKey: token) }
    withExtendedLifetime(removed) {}
  }

  /// Notifies handlers of waiting events. Never called with the lock held.
  ///
  /// One thread at a time does this, so that handlers see changes in order.
  func deliver() {
    let (problems, problemHandlers) = state.withLock { state in state.takeProblems() }
    for problem in problems {
      for handler in problemHandlers { handler(problem) }
    }
    while let (event, handlers) = state.withLock({ state in state.nextMail() }) {
      for handler in handlers { handler(event) }
      state.withLock { state in
        state.underWay = nil
        state.turn.end()
      }
    }
  }

  /// Calls ``deliver()`` later, since the current thread has only read, and may hold locks of its program.
  func deliverLater() {
    Self.deliveries.call {
      self.deliver()
      self.payDebts()
    }
  }

  /// Writes what a read has found missing in the files and could not write, since another process was writing.
  private func payDebts() {
    guard state.withLock({ $0.file?.owesRestoration ?? false }) else { return }
    // If a stopped process has the lock, the next write saves them.
    try? changing { replay, file in try file?.payDebts(&replay) }
  }
}

extension DomainStore {
  /// Watches the domain's files, so that edits by hand and other processes' changes are applied.
  func startWatching() {
    let (old, directory) = state.withLock { state in (state.watcher, state.file?.directory) }
    // The watcher has its own lock: called under this one, it could wait for a fork forever.
    guard let directory, old?.isOver ?? true else { return }
    let watcher = try? FileWatcher(
      directory: directory, names: [name + ".plist", name + ".journal", name + ".waiting"]
    ) { [weak self] names in
      self?.filesChanged(names)
    }
    state.withLock { state in
      if state.watcher === old, watcher != nil { state.watcher = watcher }
    }
    if watcher == nil { watchAgainLater() }
  }

  /// Retries as long as somebody observes: no directory exists to be watched.
  private func watchAgainLater() {
    let isNeeded = state.withLock { state -> Bool in
      guard !state.handlers.isEmpty, !state.isWatchPlanned else { return false }
      state.isWatchPlanned = true
      return true
    }
    guard isNeeded else { return }
    Self.deliveries.call(after: .seconds(FileWatcher.pollingInterval)) { [weak self] in
      self?.state.withLock { $0.isWatchPlanned = false }
      self?.watchAnew()
    }
  }

  /// Checks again once the writer of the property list file must be done.
  func refreshLater() {
    let later = Duration.seconds(DomainFile.writingTime + 0.1)
    Self.deliveries.call(after: later) { [weak self] in _ = self?.refresh() }
  }

  private func filesChanged(_ names: Set<String>) {
    let isWaiting = names.contains(name + ".waiting")
    let hasMail = state.withLock { state -> Bool in
      guard let file = state.file else { return false }
      file.journal.clearNotice()
      let isNew = file.journal.hasNews || file.journal.isSpoilt
      var hasMail = isNew && state.catchUp(file)
      // Before other programs use a file that has taken the journal's name.
      if names.contains(name + ".journal"), !file.isReadOnly, !file.journal.isInPlace {
        hasMail = state.reporting(file) { replay in try file.look(&replay) } || hasMail
      }
      // Another program could not write. If the lock is free now, or this process has it, this one can.
      if isWaiting, !file.isReadOnly || file.isPlain, file.waiting.isPresent {
        file.hasWaitingFile = true
        hasMail = state.reporting(file) { replay in try file.payDebts(&replay) } || hasMail
      }
      return hasMail || !file.problems.isEmpty
    }
    if hasMail { deliver() }
    if names.isEmpty || names.contains(name + ".plist") { refresh() }
    // The directory may have been moved away, and another one created.
    if names.isEmpty { Self.deliveries.call { [weak self] in self?.watchAnew() } }
  }

  private func watchAnew() {
    let watcher = state.withLock { $0.watcher }
    guard watcher?.isOver ?? true else { return }
    // Restores a lost directory.
    refresh()
    startWatching()
    // Changes before the watch began are not reported.
    refresh()
  }
}

extension DomainStore.State {
  fileprivate mutating func nextMail() -> (DomainEvent, [@Sendable (DomainEvent) -> Void])? {
    guard !mail.isEmpty, turn.begin() else { return nil }
    let event = mail.removeFirst()
    underWay = event
    return (event, handlers.sorted { $0.key < $1.key }.map(\.value))
  }

  fileprivate mutating func takeProblems() -> (
    [PreferencesError], [@Sendable (PreferencesError) -> Void]
  ) {
    // Without a handler they wait. Most occur while opening, before a handler can exist.
    guard let file, !file.problems.isEmpty, !problemHandlers.isEmpty else { return ([], []) }
    return (file.problems.take(), problemHandlers.sorted { $0.key < $1.key }.map(\.value))
  }
}

extension DomainStore {
  /// The value that a key had after an event, whether later ones are being delivered or are waiting.
  ///
  /// - Parameter received: The number of the last event that the caller has received.
  func value(forKey key: String, afterEvent received: UInt64) -> PropertyList? {
    state.withLock { state in
      for event in [state.underWay].compactMap(\.self) + state.mail where event.number > received {
        for change in event.changes where change.key.isSameText(as: key) { return change.old }
      }
      return state.table[key]
    }
  }
}
