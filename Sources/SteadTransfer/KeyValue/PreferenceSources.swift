import Foundation
import SteadFiles
public import SteadPreferences

extension TransferSource {
  /// A key of preferences: an array has an item for each element, anything else is one item.
  ///
  /// ```swift
  /// Transfer("drafts", from: .preference("draft_posts", of: Post.self), to: .records(container)) { Draft($0) }
  /// ```
  ///
  /// The array may be one of a property list, or JSON: in data, as `JSONEncoder` writes it, or in a
  /// string, as `@AppStorage` stores a `RawRepresentable` array. Dates in JSON are seconds since
  /// 2001 or ISO 8601. Elements decode as `Value`: by its own form if it is a `PreferenceValue`,
  /// else by its `Codable` form.
  ///
  /// Only the domain that the preferences write is read, never registered defaults or other
  /// domains. Removal keeps the other elements byte for byte, and removes the key with the last
  /// one.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type that an item decodes as.
  ///   - preferences: The preferences whose domain has the key.
  public static func preference(
    _ key: String, of type: Value.Type = Value.self, in preferences: Preferences = .standard
  ) -> Self where Value: Decodable & Sendable {
    Self(PreferenceSource<Value>(key, in: preferences))
  }
}

/// A key of preferences as a source.
struct PreferenceSource<Value: Decodable & Sendable>: ItemSource {
  /// The maximum number of attempts to remove items while other processes write the same key.
  static var attemptLimit: Int { 100 }

  /// The key that is read.
  let key: String
  /// The preferences whose domain has the key.
  let preferences: Preferences

  /// The value of a key, or the elements of its array.
  init(_ key: String, of type: Value.Type = Value.self, in preferences: Preferences) {
    self.key = key
    self.preferences = preferences
  }

  /// The key and its domain.
  var name: String { "key \(key) of \(preferences.domain)" }

  /// Whether the domain can be written.
  var isRemovable: Bool { !preferences.isReadOnly }

  /// The elements, named by index.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<Value>] {
    guard let stored = try preferences.ownValue(forKey: key) else { return [] }
    let list = PreferenceList(stored, splitsData: Value.self != Data.self)
    // Bytes that neither are JSON nor decode would become one item that fails. An error says more,
    // and nothing is moved.
    guard !list.isUnreadable || Value.self == Data.self || decodes(list) else {
      throw TransferError(
        code: .unreadable,
        message:
          "\(name) holds data that isn't JSON, and was left as it is. Correct it, or remove it.")
    }
    return try list.elements.enumerated().map { index, element in
      try progress(.init(phase: .reading, completed: index, total: list.elements.count))
      return TransferItem(
        name: list.isArray ? "\(key)[\(index)]" : key, identity: try element.identity(),
        value: Result { try element.decoded(as: Value.self) })
    }
  }

  /// Removes elements by compare and swap, again if another process has changed the key in between.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    for _ in 0..<Self.attemptLimit {
      // Somebody has removed the key: nothing is left to remove.
      guard let stored = try preferences.ownValue(forKey: key) else { return 0 }
      // Built in each attempt: the identities were claimed by elements of a list that is outdated.
      var known = IdentityMultiset(entries)
      let list = PreferenceList(stored, splitsData: Value.self != Data.self)
      let kept = try list.elements.filter { try known.remove($0.identity()) == nil }
      let removed = list.elements.count - kept.count
      guard removed > 0 else { return 0 }
      let isApplied = try preferences.apply(
        [DomainEdit(key: key, value: list.stored(kept))],
        ifStill: [DomainEdit(key: key, value: stored)])
      guard isApplied else { continue }
      // A moved item may be a secret. The journal would keep it for some hundred writes more.
      try preferences.flushWithoutTraces()
      return removed
    }
    throw TransferError.contended(name, attempts: Self.attemptLimit)
  }

  /// Whether data that isn't JSON is the type's own form, such as that of a URL.
  private func decodes(_ list: PreferenceList) -> Bool {
    list.elements.contains { (try? $0.decoded(as: Value.self)) != nil }
  }

  /// Whether an element was written to this very key.
  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool {
    guard let other = destination as? PreferencesDestination,
      preferences.isSameDomain(as: other.preferences)
    else { return false }
    return placements.contains { $0.location.utf8.elementsEqual(key.utf8) }
  }
}

// MARK: - A domain

extension TransferSource where Value == PreferenceEntry {
  /// A domain of preferences: an item for each key, with its value.
  ///
  /// Only the domain that the preferences write is read. Receipts of transfers aren't items.
  public static func preferences(_ preferences: Preferences) -> Self {
    Self(DomainSource(preferences))
  }
}

/// A domain of preferences as a source.
struct DomainSource: ItemSource {
  /// The maximum number of attempts to remove items while other processes write the same keys.
  static let attemptLimit = 100

  /// The preferences whose domain is read.
  let preferences: Preferences

  /// The domain that the preferences write.
  init(_ preferences: Preferences) { self.preferences = preferences }

  /// The domain's name.
  var name: String { "preferences of \(preferences.domain)" }
  /// Whether the domain can be written.
  var isRemovable: Bool { !preferences.isReadOnly }

  /// The keys with their values, in the order of the keys' bytes.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<PreferenceEntry> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<PreferenceEntry>]
  {
    let entries = try entries()
    return try entries.enumerated().map { index, entry in
      try progress(.init(phase: .reading, completed: index, total: entries.count))
      return TransferItem(
        name: "key \(entry.key)", identity: try entry.digest(), value: .success(entry))
    }
  }

  /// Removes the keys that still have the moved values, as one change.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    for _ in 0..<Self.attemptLimit {
      // A key may have got another value in between, and then stays.
      var known = IdentityMultiset(entries)
      let gone = try self.entries().filter { try known.remove($0.digest()) != nil }
      guard !gone.isEmpty else { return 0 }
      let isApplied = try preferences.apply(
        gone.map { DomainEdit(key: $0.key, value: nil) },
        ifStill: gone.map { DomainEdit(key: $0.key, value: $0.value) })
      guard isApplied else { continue }
      // A moved item may be a secret. The journal would keep it for some hundred writes more.
      try preferences.flushWithoutTraces()
      return gone.count
    }
    throw TransferError.contended(name, attempts: Self.attemptLimit)
  }

  private func entries() throws -> [PreferenceEntry] {
    try preferences.ownContents()
      // Receipts belong to this domain as a destination.
      .filter { !$0.key.utf8.starts(with: PreferencesDestination.receiptPrefix.utf8) }
      .map { PreferenceEntry(key: $0.key, value: $0.value) }
  }

  /// Whether the destination is the same domain. Its keys would be moved items to the removal.
  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool {
    guard let other = destination as? PreferencesDestination else { return false }
    return preferences.isSameDomain(as: other.preferences)
  }
}

// MARK: - A history

extension TransferSource {
  /// A `PayloadHistory`: an item for each entry, the newest first.
  ///
  /// Entries have numbers that are never reused and are part of their identities, so equal payloads
  /// are distinguished. An entry that doesn't decode is an item with an error, and stays in the
  /// history. One that is updated after it was read is not removed, and is new to the next run.
  public static func history(_ history: PayloadHistory<Value>) -> Self
  where Value: Codable & Identifiable & Sendable {
    Self(HistorySource(history))
  }
}

/// A history of payloads as a source.
struct HistorySource<Payload: Codable & Identifiable & Sendable>: ItemSource {
  /// The history whose entries are read.
  private let history: PayloadHistory<Payload>

  /// The entries of a history.
  init(_ history: PayloadHistory<Payload>) { self.history = history }

  /// The history's key and domain.
  var name: String { history.label }
  /// Whether the history can be written.
  var isRemovable: Bool { !history.isReadOnly }

  /// True: numbers are never reused.
  var hasUniqueIdentities: Bool { true }

  /// The entries, named by index; 0 is the newest.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Payload> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<Payload>] {
    let records = try history.records()
    return try records.enumerated().map { index, record in
      try progress(.init(phase: .reading, completed: index, total: records.count))
      return TransferItem(
        name: "\(history.key)[\(index)]", identity: Self.identity(of: record),
        value: record.payload)
    }
  }

  /// Removes the entries that still are what was read, as one change, and waits for the disk.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    let wanted = Set(entries.map(\.identity))
    // An entry that was updated has other bytes, so its identity isn't wanted.
    let gone = try history.records().filter { wanted.contains(Self.identity(of: $0)) }
    guard !gone.isEmpty else { return 0 }
    // With the bytes, so that an entry that is updated at this moment stays.
    try history.removeRecords(gone.map { ($0.sequence, $0.bytes) })
    // Durable before the receipt says that the source is done.
    try history.flush()
    return gone.count
  }

  /// An entry's number and the digest of its bytes.
  private static func identity(of record: HistoryRecord<Payload>) -> String {
    "\(record.sequence).\(ItemDigest.text(of: record.bytes))"
  }
}
