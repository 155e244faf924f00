import Foundation
import SteadFiles
public import SteadPreferences

extension TransferDestination where Element == PreferenceEntry {
  /// Keys of a domain of preferences, one for each element.
  ///
  /// Elements and receipt are one record of the domain's journal. A key that holds something else already is
  /// a ``TransferError/Code/conflict``; one that holds the very value counts as written. The receipt is JSON
  /// in data, under `stead.transfer.` and the transfer's name.
  public static func preferences(_ preferences: Preferences) -> Self {
    Self(PreferencesDestination(preferences))
  }
}

/// A destination that keeps each element under a key of a domain of preferences.
struct PreferencesDestination: ItemDestination {
  /// What the keys of receipts begin with.
  static let receiptPrefix = "stead.transfer."
  /// How often a write is tried while other processes write the same keys.
  static let attemptLimit = 100

  let preferences: Preferences

  /// The domain that preferences write.
  init(_ preferences: Preferences) { self.preferences = preferences }

  /// The domain's name.
  var name: String { "preferences of \(preferences.domain)" }

  /// The receipt under its key. Throws `.unsupported` when something else is there.
  func receipt(named id: String) throws -> TransferReceipt? {
    try decode(TransferReceipt.self, preferences.ownValue(forKey: Self.receiptPrefix + id))
  }

  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    let stored = try preferences.ownValue(forKey: Self.receiptPrefix + receipt.id)
    guard let whole = try decode(WholeReceipt.self, stored) else { throw receipt.overtaken(nil) }
    return try whole.chunk(at: index)
  }

  func checkFree(_ elements: [PreferenceEntry]) throws { _ = try seen(elements) }

  /// Writes all keys and the receipt as one change, and waits for the disk.
  ///
  /// Throws `.conflict`, with the keys, where one holds something else or two elements want the same.
  func write(
    _ elements: [PreferenceEntry], _ receipt: TransferReceipt,
    _ progress: TransferProgress.Report, entries: ([TransferPlacement]) throws -> ReceiptChunk
  ) throws {
    var placements: [TransferPlacement] = []
    placements.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      try progress(.init(phase: .writing, completed: index, total: elements.count))
      placements.append(.init(place: element.key, digest: try element.value.digest()))
    }
    let chunk = try entries(placements)
    try retrying(receipt) { current in
      let expected = try seen(elements)
      let new = try WholeReceipt.following(
        decode(WholeReceipt.self, current.value), receipt, adding: chunk)
      let edits = elements.map { DomainEdit(key: $0.key, value: $0.value) }
      return try preferences.apply(
        edits + [edit(new, key: current.key)], ifStill: expected + [current])
    }
    try progress(.init(phase: .writing, completed: elements.count, total: elements.count))
  }

  /// Waits for the disk, and compares with what the files hold, read anew.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    try preferences.flush()
    let stored = try preferences.storedContents()
    var lost: [TransferPlacement] = []
    for (index, placement) in placements.enumerated() {
      try progress(.init(phase: .verifying, completed: index, total: placements.count))
      if try stored[placement.place]?.digest() != placement.digest { lost.append(placement) }
    }
    return lost
  }

  /// Replaces the receipt, and waits for the disk.
  func replace(_ receipt: TransferReceipt) throws {
    try retrying(receipt) { current in
      let new = try WholeReceipt.following(decode(WholeReceipt.self, current.value), receipt)
      return try preferences.apply([edit(new, key: current.key)], ifStill: [current])
    }
  }
}

extension PreferencesDestination {
  /// Tries to write a receipt until nobody has changed what was looked at, then waits for the disk.
  private func retrying(
    _ receipt: TransferReceipt, _ body: (_ current: DomainEdit) throws -> Bool
  ) throws {
    let key = Self.receiptPrefix + receipt.id
    for _ in 0..<Self.attemptLimit {
      if try body(DomainEdit(key: key, value: preferences.ownValue(forKey: key))) {
        return try preferences.flush()
      }
    }
    throw TransferError(
      code: .changed,
      message: "Other programs wrote to \(name) each of \(Self.attemptLimit) times. Run again.")
  }

  /// What the keys of elements hold now; throws when that is something else than the elements.
  private func seen(_ elements: [PreferenceEntry]) throws -> [DomainEdit] {
    var wanted: Set<[UInt8]> = []
    var failures: [(element: Int, TransferFailure)] = []
    var seen: [DomainEdit] = []
    for (number, element) in elements.enumerated() {
      let there = try preferences.ownValue(forKey: element.key)
      seen.append(DomainEdit(key: element.key, value: there))
      func fail(_ reason: String) {
        failures.append((number, .init(item: "key \(element.key)", reason: reason)))
      }
      if element.key.hasPrefix(Self.receiptPrefix) {
        fail("Receipts are kept there.")
      } else if !wanted.insert(Array(element.key.utf8)).inserted {
        fail("Two items are to go there.")
      } else if let there, there != element.value {
        fail("It holds another value.")
      }
    }
    guard !failures.isEmpty else { return seen }
    throw TransferError.conflict(
      "Keys of \(name) are not free, so nothing was moved. Remove what is there, move to other keys, or "
        + "leave these items out by the transfer's options.", failures)
  }

  private func edit(_ receipt: WholeReceipt, key: String) throws -> DomainEdit {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return DomainEdit(key: key, value: .data(try encoder.encode(receipt)))
  }

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
