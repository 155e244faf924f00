import Foundation
import SteadFiles

/// One domain: keys and values, in a property list file with its journal or in memory alone.
///
/// All that is called a domain is one of these: the files of an app, a user or an administrator, and
/// the arguments and registered defaults, which are never written. Safe from any thread, and in the
/// child of a fork.
final class DomainStore: Sendable {
  /// The domain's name, such as `com.example.notes`.
  let name: String

  struct State {
    var table = DomainTable()
    var handlers: [UInt64: @Sendable (DomainEvent) -> Void] = [:]
    var lastHandler: UInt64 = 0
    /// What handlers have still to be told, in the order in which it happened.
    var mail: [DomainEvent] = []
    var isDelivering = false
  }

  let state = ForkSafeLock(State())

  /// A domain that lives as long as this object.
  init(inMemory name: String) {
    self.name = name
  }

  // MARK: Reading

  /// The value of a key, nil when the domain has none.
  func value(forKey key: String) -> PropertyList? {
    state.withLock { state in state.table[key] }
  }

  /// All keys and values, in no order.
  func contents() -> [PropertyList.Fields.Field] {
    state.withLock { state in state.table.fields() }
  }

  // MARK: Writing

  /// Sets a value; nil removes the key.
  func set(_ value: PropertyList?, forKey key: String) throws {
    try apply([DomainEdit(key: key, value: value)])
  }

  /// Makes several changes as one: other processes see all of them or none.
  func apply(_ edits: [DomainEdit]) throws {
    state.withLock { state in
      var changes: [DomainChange] = []
      for edit in edits {
        let old = state.table.replace(edit.key, with: edit.value)
        changes.append(DomainChange(key: edit.key, old: old, new: edit.value))
      }
      state.post(DomainEvent(changes: changes, isOwn: true))
    }
    deliver()
  }

  /// Puts `fields` in the place of all that is there.
  func replaceContents(with fields: PropertyList.Fields) throws {
    let gone = contents().filter { fields[$0.key] == nil }
    try apply(
      gone.map { DomainEdit(key: $0.key, value: nil) }
        + fields.map { DomainEdit(key: $0.key, value: $0.value) })
  }

  // MARK: Safety

  /// Returns when everything that was set will survive a loss of power.
  func flush() throws {}

  /// ``flush()``, and the property list file shows what was set.
  func checkpoint() throws {}

  /// Looks at once whether others have changed the file.
  func refresh() throws {}

  // MARK: Observing

  /// Calls `handler` after each change, in the changes' order, until ``removeHandler(_:)``.
  ///
  /// It is called on the thread that wrote; for another process's changes on a background queue. From
  /// the first handler on those are followed as they come.
  func addHandler(_ handler: @escaping @Sendable (DomainEvent) -> Void) -> UInt64 {
    state.withLock { state in
      state.lastHandler += 1
      state.handlers[state.lastHandler] = handler
      return state.lastHandler
    }
  }

  /// Stops what ``addHandler(_:)`` began; a call that is under way may still come to its end.
  func removeHandler(_ token: UInt64) {
    state.withLock { state in state.handlers[token] = nil }
  }

  /// Tells handlers what has happened. Never called with the lock held.
  ///
  /// One thread at a time does this, so that handlers see changes in the order in which they happened.
  func deliver() {
    while let (event, handlers) = state.withLock({ state in state.nextMail() }) {
      for handler in handlers { handler(event) }
      state.withLock { state in state.isDelivering = false }
    }
  }
}

/// A key's value from now on; nil removes the key.
struct DomainEdit: Sendable {
  var key: String
  var value: PropertyList?
}

/// What became of one key.
struct DomainChange: Sendable {
  var key: String
  var old: PropertyList?
  var new: PropertyList?
}

/// What one write, or a look at the file, has changed.
struct DomainEvent: Sendable {
  var changes: [DomainChange]
  /// Whether this process wrote it.
  var isOwn: Bool
}

extension DomainStore.State {
  mutating func post(_ event: DomainEvent) {
    if !handlers.isEmpty, !event.changes.isEmpty { mail.append(event) }
  }

  fileprivate mutating func nextMail() -> (DomainEvent, [@Sendable (DomainEvent) -> Void])? {
    guard !isDelivering, !mail.isEmpty else { return nil }
    isDelivering = true
    return (mail.removeFirst(), handlers.sorted { $0.key < $1.key }.map(\.value))
  }
}
