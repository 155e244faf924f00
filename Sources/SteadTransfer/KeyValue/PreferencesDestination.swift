import Foundation
import SteadFiles
public import SteadPreferences

extension TransferDestination where Element == PreferenceEntry {
  /// Keys of a domain of preferences, one for each element.
  ///
  /// ```swift
  /// Transfer("colors", from: .json(url, of: Color.self), to: .preferences(.standard)) {
  ///   try PreferenceEntry(key: "color.\($0.name)", encoding: $0)
  /// }
  /// ```
  ///
  /// Elements and receipt are one record of the domain's journal. A key with another value, and a
  /// key of two elements, are a ``TransferError/Code/conflict`` unless the transfer's options say
  /// otherwise; a key that has the same value already counts as written. The receipt is JSON in
  /// data, under `stead.transfer.` and the transfer's name, which no element can have as its key.
  public static func preferences(_ preferences: Preferences) -> Self {
    Self(PreferencesDestination(preferences))
  }
}

/// A domain of preferences as the destination of keys.
struct PreferencesDestination: ItemDestination {
  /// The prefix of the keys of receipts.
  static let receiptPrefix = "stead.transfer."
  /// The maximum number of attempts to write while other processes write the same keys.
  static let attemptLimit = 100

  /// The preferences whose domain is written.
  let preferences: Preferences

  /// The domain that the preferences write.
  init(_ preferences: Preferences) { self.preferences = preferences }

  /// The domain's name.
  var name: String { "preferences of \(preferences.domain)" }

  /// The receipt, which is stored under its own key.
  ///
  /// - Throws: ``TransferError/Code/unsupported`` if the key has something else.
  func receipt(named id: String) throws -> TransferReceipt? {
    try decode(TransferReceipt.self, preferences.ownValue(forKey: Self.receiptPrefix + id))
  }

  /// The chunk of a receipt's entries that begins at an index.
  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    let stored = try preferences.ownValue(forKey: Self.receiptPrefix + receipt.id)
    guard let whole = try decode(WholeReceipt.self, stored) else { throw receipt.superseded(nil) }
    return try whole.chunk(at: index)
  }

  /// Compares the batch with the present values.
  func checkConflicts(_ batch: ElementBatch<PreferenceEntry>) throws -> Int {
    try plan(for: batch).replacedCount
  }

  /// Writes all keys and the receipt as one record of the journal, and waits for the disk.
  ///
  /// - Throws: ``TransferError/Code/conflict`` with the keys that have other values, or that two
  ///   elements have.
  func write(
    _ batch: ElementBatch<PreferenceEntry>, _ receipt: TransferReceipt,
    _ progress: TransferProgress.Report, entries: (WrittenElements) throws -> ReceiptChunk
  ) throws {
    let elements = batch.elements
    // By the UTF-8 of the keys, as everywhere in preferences: a dictionary of strings would treat
    // two spellings as one key. With the rule `.replace` the last element for a key is what it has
    // in the end.
    var lastDigests: [[UInt8]: String] = [:]
    for (index, element) in elements.enumerated() {
      try progress(.init(phase: .writing, completed: index, total: elements.count))
      lastDigests[Array(element.key.utf8)] = try element.value.digest()
    }
    // Elements that are replaced by a later one share its placement, so verification finds what
    // they became.
    let placements = elements.map {
      TransferPlacement(location: $0.key, digest: lastDigests[Array($0.key.utf8)] ?? "")
    }
    try retrying(receipt) { current in
      let found = try plan(for: batch)
      let chunk = try entries(.init(placements: placements, replacedCount: found.replacedCount))
      let new = try WholeReceipt.succeeding(
        decode(WholeReceipt.self, current.value), receipt, adding: chunk)
      // If a key or the receipt has changed since, nothing is written, and the next attempt plans
      // again.
      return try preferences.apply(
        found.edits + [edit(new, key: current.key)], ifStill: found.expected + [current])
    }
    try progress(.init(phase: .writing, completed: elements.count, total: elements.count))
  }

  /// Waits for the disk, and compares with the files' contents, read again.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    // What is verified has to survive a loss of power: the source goes next.
    try preferences.flush()
    let stored = try preferences.storedContents()
    var lost: [TransferPlacement] = []
    for (index, placement) in placements.enumerated() {
      try progress(.init(phase: .verifying, completed: index, total: placements.count))
      if try stored[placement.location]?.digest() != placement.digest { lost.append(placement) }
    }
    return lost
  }

  /// Replaces the receipt by its successor, and waits for the disk.
  func replace(_ receipt: TransferReceipt) throws {
    try retrying(receipt) { current in
      let new = try WholeReceipt.succeeding(decode(WholeReceipt.self, current.value), receipt)
      return try preferences.apply([edit(new, key: current.key)], ifStill: [current])
    }
  }

  // MARK: - Conflicts and receipts

  /// Calls `body` with the stored receipt until its compare and swap succeeds, then waits for the
  /// disk.
  private func retrying(
    _ receipt: TransferReceipt, _ body: (_ current: DomainEdit) throws -> Bool
  ) throws {
    let key = Self.receiptPrefix + receipt.id
    for _ in 0..<Self.attemptLimit {
      if try body(DomainEdit(key: key, value: preferences.ownValue(forKey: key))) {
        // Durable before the caller goes on: the source may lose the items next.
        return try preferences.flush()
      }
    }
    throw TransferError.contended(name, attempts: Self.attemptLimit)
  }

  /// What is to be written, and the values of the keys at the time of planning.
  private struct WritePlan {
    /// One edit for each key, with its last value.
    var edits: [DomainEdit] = []
    /// The values that the keys must still have when the edits are applied.
    var expected: [DomainEdit] = []
    var replacedCount = 0
  }

  /// Plans the write of a batch; throws the conflicts that the rule doesn't resolve.
  private func plan(for batch: ElementBatch<PreferenceEntry>) throws -> WritePlan {
    var plan = WritePlan()
    /// For each key, the first element and the index of its edit.
    var wanted: [[UInt8]: (element: Int, edit: Int)] = [:]
    var conflicts: [ElementConflict] = []
    for (index, element) in batch.elements.enumerated() {
      func conflict(_ occupant: Occupant?, _ reason: String) {
        conflicts.append(
          .init(
            element: index, occupant: occupant,
            failure: .init(item: "key \(element.key)", reason: reason)))
      }
      let key = Array(element.key.utf8)
      // Overwriting a receipt would make all items of that transfer new.
      if element.key.hasPrefix(Self.receiptPrefix) {
        conflict(nil, "Receipts are kept there.")
        continue
      }
      if let first = wanted[key] {
        if batch.rule == .replace {
          plan.replacedCount += plan.edits[first.edit].value == element.value ? 0 : 1
          plan.edits[first.edit].value = element.value
        } else {
          conflict(.element(first.element), "Two items would be stored there.")
        }
        continue
      }
      // Of this domain only: a registered default or another domain's value takes no place here.
      let current = try preferences.ownValue(forKey: element.key)
      // An equal value counts as written. That makes a repeated run after a crash harmless.
      if let current, current != element.value {
        guard batch.rule == .replace else {
          conflict(.stored(element.key), "It holds another value.")
          continue
        }
        plan.replacedCount += 1
      }
      wanted[key] = (index, plan.edits.count)
      plan.edits.append(DomainEdit(key: element.key, value: element.value))
      plan.expected.append(DomainEdit(key: element.key, value: current))
    }
    guard !conflicts.isEmpty else { return plan }
    throw TransferError.conflict(
      "Keys of \(name) are not free, so nothing was moved. Remove what is there, move to other keys, or "
        + "say in the transfer's options what becomes of these items.", conflicts)
  }

  /// The edit that stores a receipt. Keys of the JSON are sorted, so that equal receipts have equal
  /// bytes.
  private func edit(_ receipt: WholeReceipt, key: String) throws -> DomainEdit {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return DomainEdit(key: key, value: .data(try encoder.encode(receipt)))
  }

  /// Decodes a stored receipt.
  private func decode<Receipt: Decodable>(
    _ type: Receipt.Type, _ stored: PropertyList?
  ) throws -> Receipt? {
    guard let stored else { return nil }
    do {
      guard case .data(let json) = stored else { throw CocoaError(.coderReadCorrupt) }
      return try JSONDecoder().decode(type, from: json)
    } catch let error as TransferError {
      throw error
    } catch {
      throw TransferError(
        code: .unsupported,
        message: "The receipt in \(name) does not decode. Without it is not known what was moved: "
          + "see to that before you remove it.", cause: error)
    }
  }
}

extension TransferError {
  /// The error for compare and swap that failed on each attempt.
  static func contended(_ name: String, attempts: Int) -> TransferError {
    TransferError(
      code: .changed,
      message: "Other programs wrote to \(name) on each of \(attempts) attempts. Run again.")
  }
}

// MARK: - Entries

/// A key of preferences and its value: an item of `.preferences(_:)` and `.userDefaults(_:)`, and
/// an element of `.preferences(_:)`.
public struct PreferenceEntry: Sendable, Hashable {
  /// The key.
  public var key: String
  /// The stored value.
  public var value: PropertyList

  /// Makes an entry from a stored value.
  public init(key: String, value: PropertyList) {
    self.key = key
    self.value = value
  }

  /// Makes an entry from a value that is encoded: by its own form if its type is a
  /// `PreferenceValue`, else by its `Codable` form.
  ///
  /// - Throws: `PreferencesError` `.notAPropertyList` for a value that doesn't encode, and for nil.
  public init<Value: Encodable>(key: String, encoding value: Value) throws {
    guard let stored = try PropertyList.encoded(value) else {
      throw PreferencesError(
        code: .notAPropertyList, message: "A nil cannot be stored. Leave it out.", key: key)
    }
    self.init(key: key, value: stored)
  }

  /// The value decoded as a type, from its own form or its `Codable` form.
  ///
  /// - Throws: `PreferencesError` `.doesNotDecode`.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try value.decoded(as: type)
  }
}

extension PropertyList {
  /// The digest of the value in the binary format, in which each value has one form.
  func digest() throws -> String { ItemDigest.text(of: try data(format: .binary)) }
}

extension PreferenceEntry {
  /// The digest of key and value.
  func digest() throws -> String { try PropertyList.array([.string(key), value]).digest() }
}
