import Dispatch
import Foundation
import SteadFiles

extension DomainStore {
  /// Other processes' changes are told from here.
  private static let queue = DispatchQueue(label: "stead.preferences", qos: .utility)

  /// Calls `handler` after each change, in the changes' order, until ``removeHandler(_:)``.
  ///
  /// It is called on the thread that wrote; for another process's changes on a background queue. From
  /// the first handler on those are followed as they come.
  func addHandler(_ handler: @escaping @Sendable (DomainEvent) -> Void) -> UInt64 {
    follow(handler).token
  }

  /// As ``addHandler(_:)``, and tells the number of the last event that the handler will not hear of.
  func follow(
    _ handler: @escaping @Sendable (DomainEvent) -> Void
  ) -> (token: UInt64, received: UInt64) {
    let (token, received, hasMail) = state.withLock { state -> (UInt64, UInt64, Bool) in
      // What was written before is not news for this handler.
      if let file = state.file { _ = state.catchUp(file) }
      state.lastHandler += 1
      state.handlers[state.lastHandler] = handler
      if state.handlers.count == 1, let file = state.file {
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

  /// Stops what ``addHandler(_:)`` began; a call that is under way may still come to its end.
  func removeHandler(_ token: UInt64) {
    // What the handler held may have locks, which are not let go of while this one is held.
    let removed = state.withLock { state in
      let removed = state.handlers.removeValue(forKey: token)
      if removed != nil, state.handlers.isEmpty { state.file?.journal.stopListening() }
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// Calls `handler` with errors that no call could throw, those included that wait already.
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

  /// Stops what ``addProblemHandler(_:)`` began.
  func removeProblemHandler(_ token: UInt64) {
    let removed = state.withLock { state in state.problemHandlers.removeValue(forKey: token) }
    withExtendedLifetime(removed) {}
  }

  /// Tells handlers what has happened. Never called with the lock held.
  ///
  /// One thread at a time does this, so that handlers see changes in the order in which they happened.
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

  /// ``deliver()`` where the thread at hand has only read, and may hold locks of its program's.
  func deliverLater() {
    Self.queue.async { self.deliver() }
  }
}

extension DomainStore {
  /// Follows the domain's files, so that edits by hand and other processes' changes are taken in.
  func startWatching() {
    let (old, directory) = state.withLock { state in (state.watcher, state.file?.directory) }
    // The watcher has a lock of its own: asked under this one, it could wait for a fork for ever.
    guard let directory, old?.isOver ?? true else { return }
    let watcher = try? FileWatcher(
      directory: directory, names: [name + ".plist", name + ".journal"]
    ) { [weak self] names in
      self?.filesChanged(names)
    }
    state.withLock { state in
      if state.watcher === old, watcher != nil { state.watcher = watcher }
    }
    if watcher == nil { watchAgainLater() }
  }

  /// Tries again for as long as somebody observes: there is no directory to be watched.
  private func watchAgainLater() {
    let isNeeded = state.withLock { state -> Bool in
      guard !state.handlers.isEmpty, !state.isWatchPlanned else { return false }
      state.isWatchPlanned = true
      return true
    }
    guard isNeeded else { return }
    Self.queue.asyncAfter(deadline: .now() + FileWatcher.pollingInterval) { [weak self] in
      self?.state.withLock { $0.isWatchPlanned = false }
      self?.watchAnew()
    }
  }

  /// Looks again once whoever is writing the property list file must be done.
  func refreshLater() {
    let later = DispatchTime.now() + DomainFile.writingTime + 0.1
    Self.queue.asyncAfter(deadline: later) { [weak self] in self?.refresh() }
  }

  private func filesChanged(_ names: Set<String>) {
    let hasMail = state.withLock { state -> Bool in
      guard let file = state.file else { return false }
      file.journal.clearNotice()
      let hasMail = file.journal.hasNews && state.catchUp(file)
      return hasMail || !file.problems.isEmpty
    }
    if hasMail { deliver() }
    if names.isEmpty || names.contains(name + ".plist") { refresh() }
    // The directory may have been moved away, and another one made.
    if names.isEmpty { Self.queue.async { [weak self] in self?.watchAnew() } }
  }

  private func watchAnew() {
    let watcher = state.withLock { $0.watcher }
    guard watcher?.isOver ?? true else { return }
    // Puts a lost directory back.
    refresh()
    startWatching()
    // What came before the watch is not told.
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
    // With nobody to tell they wait. Most are met while opening, before there can be a handler.
    guard let file, !file.problems.isEmpty, !problemHandlers.isEmpty else { return ([], []) }
    return (file.problems.take(), problemHandlers.sorted { $0.key < $1.key }.map(\.value))
  }
}

extension DomainStore {
  /// The value that a key had after an event, whether the later ones are being told or wait for it.
  ///
  /// - Parameter received: The number of the last event that the caller has heard of.
  func value(forKey key: String, afterEvent received: UInt64) -> PropertyList? {
    state.withLock { state in
      for event in [state.underWay].compactMap(\.self) + state.mail where event.number > received {
        for change in event.changes where change.key.isSameText(as: key) { return change.old }
      }
      return state.table[key]
    }
  }
}
