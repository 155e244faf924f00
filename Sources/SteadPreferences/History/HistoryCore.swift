import Foundation
import SteadFiles

/// A history's state in memory, and the lock around it.
///
/// The lock is held around calls of the domain, and never while the program's own code runs:
/// payloads are coded and observers notified without it.
final class HistoryCore: @unchecked Sendable {
  /// What the lock protects.
  struct State {
    var table = HistoryTable()
    var header = HistoryHeader()
    var externalChanges = ExternalChangeCounts()
    var isLoaded = false
    /// The version of the table: an update that was computed for another one is discarded.
    var epoch: UInt64 = 0
    /// All payloads in one box, newest first, once they have been requested.
    var items: AnyPayload?
    var usage = HistoryUsage()
    /// Whether there are observers.
    var isObserved = false
    var pendingDeltas: [HistoryDelta] = []
    var deliveryToken = DeliveryToken()
    var receivers: [UInt64: HistoryReceiver] = [:]
    var lastReceiver: UInt64 = 0
  }

  // Makes the class Sendable: `state` is accessed in `withLock(_:)` alone.
  private let lock = NSLock()
  private var state = State()

  func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }
}

/// Holds the core of this process, and makes a new one in the child of a fork.
///
/// There a thread that does not exist in the child may hold the parent's lock, and the state may be
/// half changed.
final class HistoryCores: Sendable {
  private struct Current: Sendable {
    var generation: UInt64
    var core: HistoryCore
  }

  private let state = ForkSafeLock(Current(generation: forkGeneration, core: HistoryCore()))

  var current: HistoryCore {
    let generation = forkGeneration
    // The old one holds payloads, which are released once the lock is free.
    let (core, old) = state.withLock { state -> (HistoryCore, HistoryCore?) in
      if state.generation == generation { return (state.core, nil) }
      let old = state.core
      state = Current(generation: generation, core: HistoryCore())
      return (state.core, old)
    }
    withExtendedLifetime(old) {}
    return core
  }
}

// MARK: - Catching up

/// What brings the table in memory up to date with the domain, computed in one look at the domain.
struct HistoryUpdate {
  /// An entry in the domain.
  struct Entry {
    var sequence: UInt64
    var stored: StoredEntry
  }

  /// How much has changed.
  enum Extent {
    /// Entries were added at the front, and the oldest that decode were dropped. The cost does not
    /// depend on the number of entries.
    case prepended(dropped: [UInt64])
    /// Anything may have changed: these are all entries, oldest first.
    case all([Entry])
  }

  /// The state of the table for which this was computed.
  var epoch: UInt64
  var header: HistoryHeader
  var externalChanges: ExternalChangeCounts
  /// Whether this process made all of the changes.
  var isOwn: Bool
  var extent: Extent
  /// The new or changed entries.
  var changed: [Entry]
}

extension HistoryCore.State {
  /// Whether the table matches the domain.
  func isCurrent(_ store: DomainStore) -> Bool {
    isLoaded && store.withTable { table, externalChanges in isCurrent(table, externalChanges) }
  }

  private func isCurrent(_ table: borrowing DomainTable, _ externalChanges: ExternalChangeCounts)
    -> Bool
  {
    externalChanges == self.externalChanges && table[HistoryHeader.key] == header.stored
  }

  /// Computes the update from the domain; nil if the table is current.
  func update(in store: DomainStore) -> HistoryUpdate? {
    let snapshot = store.withTable { table, externalChanges -> Snapshot? in
      if isLoaded, isCurrent(table, externalChanges) { return nil }
      let header = HistoryHeader(table)
      // The fast path; otherwise all entries are copied and compared.
      if let (new, dropped) = prepended(header, table, externalChanges) {
        return Snapshot(
          header: header, externalChanges: externalChanges, new: new, dropped: dropped)
      }
      return Snapshot(header: header, externalChanges: externalChanges, all: table.fields())
    }
    guard let snapshot else { return nil }
    let new = snapshot.new.map { HistoryUpdate.Entry(sequence: $0.0, stored: StoredEntry($0.1)) }
    var update = HistoryUpdate(
      epoch: epoch, header: snapshot.header, externalChanges: snapshot.externalChanges,
      isOwn: snapshot.externalChanges == externalChanges,
      extent: .prepended(dropped: snapshot.dropped), changed: new)
    if let all = snapshot.all {
      let entries = Self.entries(all)
      update.extent = .all(entries)
      update.changed = entries.filter { !isKept($0) }
    }
    return update
  }

  /// What was copied from the domain under its lock; it is decoded afterwards.
  private struct Snapshot {
    var header: HistoryHeader
    var externalChanges: ExternalChangeCounts
    var new: [(UInt64, PropertyList)] = []
    var dropped: [UInt64] = []
    var all: [PropertyList.Fields.Field]?
  }

  /// The entries added at the front and those dropped, if nothing else has happened since the last
  /// update.
  ///
  /// The fast path for several processes. It holds if the header says so (`edits` is unchanged),
  /// each record since was a change of a history (each raises the revision by one), and the number
  /// of entries agrees with the header's: a program of another version may have dropped other
  /// entries than the oldest that decode here.
  private func prepended(
    _ new: HistoryHeader, _ domain: borrowing DomainTable, _ externalChanges: ExternalChangeCounts
  ) -> (new: [(UInt64, PropertyList)], dropped: [UInt64])? {
    guard isLoaded, externalChanges.rewrites == self.externalChanges.rewrites,
      new.edits == header.edits,
      new.revision > header.revision, new.next >= header.next,
      externalChanges.records - self.externalChanges.records
        <= UInt64(new.revision - header.revision),
      // A header that was edited by hand may name any number, up to which the loop below would run.
      new.next - header.next <= UInt64(domain.count)
    else { return nil }
    var entries: [(UInt64, PropertyList)] = []
    for sequence in header.next..<new.next {
      if let value = domain[EntryKey.text(sequence)] { entries.append((sequence, value)) }
    }
    var dropped: [UInt64] = []
    table.visitOldest { sequence in
      // The oldest that is still there: nothing newer can have been dropped for the limit.
      guard domain[EntryKey.text(sequence)] == nil else { return false }
      dropped.append(sequence)
      return true
    }
    let total = table.total - dropped.count + entries.count
    // Otherwise something else was removed, and the fast path does not apply.
    return Int64(total) == new.total ? (entries, dropped) : nil
  }

  private static func entries(_ fields: [PropertyList.Fields.Field]) -> [HistoryUpdate.Entry] {
    fields.compactMap { field in
      EntryKey.sequence(field.key).map {
        HistoryUpdate.Entry(sequence: $0, stored: StoredEntry(field.value))
      }
    }.sorted { $0.sequence < $1.sequence }
  }

  /// Whether an entry is unchanged and need not be decoded again. One whose file could not be read
  /// is tried again.
  private func isKept(_ entry: HistoryUpdate.Entry) -> Bool {
    guard let known = table[sequence: entry.sequence], known.stored == entry.stored else {
      return false
    }
    if case .undecodable(let cause) = known.content { return cause.reason != .unreadable }
    return true
  }

  /// Applies an update with the decoded contents of its changed entries.
  ///
  /// Afterwards the table is the domain as of the update, and `header` is what the next commit
  /// expects to find. Observers get one delta.
  ///
  /// - Returns: false when the table has changed since the update was computed; nothing is applied
  ///   then.
  mutating func apply(_ update: HistoryUpdate, _ contents: [HistoryContent]) -> Bool {
    // Another thread has changed the table while the contents were decoded.
    guard update.epoch == epoch else { return false }
    let changed = zip(update.changed, contents).map { entry, content in
      HistoryTable.Entry(
        sequence: entry.sequence, stored: entry.stored, content: content)
    }
    let changes: [HistoryTable.Change]
    switch update.extent {
    case .prepended(let dropped):
      for sequence in dropped { table.remove(sequence) }
      for entry in changed { table.append(entry) }
      changes = isObserved ? table.changes : []
      table.commit()
    case .all(let entries):
      let known = Dictionary(changed.map { ($0.sequence, $0) }) { first, _ in first }
      // Entries that are unchanged keep their decoded payload.
      var fresh = HistoryTable()
      for entry in entries {
        if let entry = known[entry.sequence] ?? table[sequence: entry.sequence] {
          fresh.append(entry)
        }
      }
      fresh.commit()
      changes = isObserved ? table.changes(to: fresh) : []
      table = fresh
    }
    (header, externalChanges) = (update.header, update.externalChanges)
    didChange()
    // The first loading is no change.
    if isObserved, isLoaded, !changes.isEmpty {
      pendingDeltas.append(HistoryDelta(changes, isOwn: update.isOwn))
    }
    isLoaded = true
    return true
  }

  mutating func didChange() {
    epoch += 1
    items = nil
  }
}

// MARK: - Contents

/// An entry's content in memory.
enum HistoryContent {
  // With its identity, since getting that calls the program's own code, and entries are looked up
  // under a lock.
  case payload(AnyPayload, AnyHashable)
  case undecodable(UndecodableCause)

  var payload: AnyPayload? {
    if case .payload(let payload, _) = self { return payload }
    return nil
  }

  var cause: UndecodableCause? {
    if case .undecodable(let cause) = self { return cause }
    return nil
  }
}

/// A payload without its type, among entries that know nothing about it.
typealias AnyPayload = any AnyObject & Sendable

/// Holds a payload, or an array of them, without its type.
///
/// Only the history that made a box knows the type: the code that stores boxes is not generic, see
/// ``HistoryTable``.
final class PayloadBox<Payload: Sendable>: Sendable {
  let payload: Payload

  init(_ payload: Payload) { self.payload = payload }

  /// The content of a box. The box must have been made by a history of this payload, which alone
  /// has references to it: so the downcast is unchecked.
  static func payload(in box: AnyPayload) -> Payload {
    unsafeDowncast(box, to: PayloadBox<Payload>.self).payload
  }
}
