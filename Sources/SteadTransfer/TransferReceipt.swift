import Foundation

/// A destination's record of a transfer: its state, and how many of the source's items it has.
///
/// It is written in the same transaction as the items, so after a crash it shows whether they were
/// written. The entries, one for each item that was ever moved, are kept next to it in chunks
/// (``ReceiptChunk``) and read on demand. Entries of finished runs come first, those of an
/// unfinished run last.
///
/// State machine of a run:
///
/// | state | after a crash, the next run knows |
/// | ----- | --------------------------------- |
/// | `writing` | the source still has all items; some are in the destination |
/// | `written` | all items are in the destination; the source may have removed all of them, or none |
/// | `finished` | nothing is left to do |
struct TransferReceipt: Hashable, Sendable {
  /// The format version. A receipt of another version is refused rather than guessed at: a wrong
  /// guess duplicates or loses items.
  static let version = 2

  /// An item that was moved.
  struct Entry: Hashable, Sendable {
    /// The item's identity in the source.
    var identity: String
    /// Where its element is.
    var placement: Placement
  }

  /// The location of an element, and its expected contents.
  struct Placement: Hashable, Sendable {
    /// The location within the destination: references to rows, a key, an account, or a relative
    /// path.
    var location: String
    /// The digest of what was written, in the destination's own form (``ItemDigest``); empty if the
    /// existing value was kept instead.
    var digest: String

    /// The placement of a value that was there before. It belongs to somebody else and may change,
    /// so it is never verified.
    static func unverified(at location: String) -> Self { Self(location: location, digest: "") }

    /// Whether something was written there, which has to read back.
    var isVerified: Bool { !digest.isEmpty }
  }

  /// The version of a source when all of its items had been moved.
  struct SourceVersion: Hashable, Codable, Sendable {
    /// The source's ``ItemSource/versionTag()``.
    var tag: String
    /// How many items the source held.
    var count: Int

    // The stored name of the tag is that of version 2 of the format.
    private enum CodingKeys: String, CodingKey { case count, tag = "text" }
  }

  /// The state of the latest run.
  enum State: String, Codable, Sendable {
    /// Some items are written, and the same run will write more. The source has all of them.
    case writing
    /// All items of the run are written, and the source may still have them.
    case written
    /// The items were read back, and the source has removed them or keeps them on purpose.
    case finished
  }

  /// The transfer's name.
  var id: String
  /// The ``ItemSource/stableName`` of the source; nil if it has none, or nothing was moved.
  var source: String?
  /// The state of the latest run.
  var state: State
  /// When the last items were written.
  var date: Date
  /// Increases by one with each change: a compare-and-swap between processes that run the same
  /// transfer.
  var revision: Int
  /// The number of items that finished runs have moved: the first of all entries.
  var movedCount: Int
  /// The number of items that the unfinished run has written: the last of all entries.
  var pendingCount: Int
  /// The source's version when all of its items had been moved; nil if some were left, or the
  /// source has no version tag.
  var sourceVersion: TransferReceipt.SourceVersion?

  /// The number of entries.
  var count: Int { movedCount + pendingCount }
  /// The indices of the pending entries.
  var pending: Range<Int> { movedCount..<count }
}

extension TransferReceipt: Codable {
  private enum Keys: String, CodingKey {
    case version, id, source, state, date, revision, moved, pending, mark
  }

  /// Decodes a receipt.
  ///
  /// - Throws: ``TransferError/Code/unsupported`` for another version. It is read first, since the
  ///   other fields may have changed with it.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    let version = try fields.decode(Int.self, forKey: .version)
    guard version == Self.version else { throw Self.unknownVersion(version) }
    id = try fields.decode(String.self, forKey: .id)
    source = try fields.decodeIfPresent(String.self, forKey: .source)
    state = try fields.decode(State.self, forKey: .state)
    date = try fields.decode(Date.self, forKey: .date)
    revision = try fields.decode(Int.self, forKey: .revision)
    movedCount = try fields.decode(Int.self, forKey: .moved)
    pendingCount = try fields.decode(Int.self, forKey: .pending)
    sourceVersion = try fields.decodeIfPresent(TransferReceipt.SourceVersion.self, forKey: .mark)
  }

  /// Writes the version first, then all fields.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(Self.version, forKey: .version)
    try fields.encode(id, forKey: .id)
    try fields.encodeIfPresent(source, forKey: .source)
    try fields.encode(state, forKey: .state)
    try fields.encode(date, forKey: .date)
    try fields.encode(revision, forKey: .revision)
    try fields.encode(movedCount, forKey: .moved)
    try fields.encode(pendingCount, forKey: .pending)
    try fields.encodeIfPresent(sourceVersion, forKey: .mark)
  }

  /// The error for a receipt that another version of this package wrote.
  static func unknownVersion(_ version: Int) -> TransferError {
    TransferError(
      code: .unsupported,
      message: "The transfer's receipt is of version \(version), and this program knows version "
        + "\(Self.version). Nothing was changed; use the version of the program that wrote it.")
  }
}

typealias TransferPlacement = TransferReceipt.Placement

// MARK: - Succession

extension TransferReceipt {
  /// Throws unless this receipt is the successor of `current`, which is nil if none exists.
  ///
  /// A destination checks this in the transaction that writes the receipt. So if two processes run
  /// the same transfer at once, one of them writes, and the other gets an error that asks for
  /// another run. Without the check both would write the same items.
  ///
  /// - Throws: ``TransferError/Code/changed``.
  func checkFollows(_ current: TransferReceipt?) throws {
    // Compare and swap: this receipt was derived from the one before it and from no other.
    guard revision == (current?.revision ?? 0) + 1 else { throw superseded(nil) }
  }

  /// The error for a receipt that another process has replaced in the meantime.
  func superseded(_ cause: (any Error)?) -> TransferError {
    TransferError(
      code: .changed,
      message:
        "Another run of the transfer \(id) finished first. Run it again to see what is left.",
      cause: cause)
  }

  /// The successor after `count` more items are written.
  ///
  /// - Parameter isLast: Whether these are the last of the run.
  func adding(_ count: Int, at date: Date, isLast: Bool = true) -> TransferReceipt {
    var next = incremented()
    (next.state, next.date) = (isLast ? .written : .writing, date)
    next.pendingCount += count
    return next
  }

  /// The successor after all items of the run are known to be written, without new ones.
  func completed() -> TransferReceipt {
    var next = incremented()
    next.state = .written
    return next
  }

  /// The successor after the source has removed the pending items, or keeps them on purpose.
  func finished(sourceVersion: TransferReceipt.SourceVersion?) -> TransferReceipt {
    var next = incremented()
    next.state = .finished
    // Pending entries become the last of the moved ones, so no entry is rewritten.
    (next.movedCount, next.pendingCount) = (count, 0)
    next.sourceVersion = sourceVersion
    return next
  }

  /// The successor that records the source's version, after all of its items were moved.
  func recording(_ sourceVersion: TransferReceipt.SourceVersion) -> TransferReceipt {
    var next = incremented()
    next.sourceVersion = sourceVersion
    return next
  }

  /// The successor without entries.
  func emptied() -> TransferReceipt {
    var next = incremented()
    next.state = .finished
    // Without a source, since the next run may be of another one.
    (next.movedCount, next.pendingCount, next.source) = (0, 0, nil)
    return next
  }

  /// The next revision. The source's version goes with each change, since only a run that ends
  /// confirms it.
  private func incremented() -> TransferReceipt {
    var next = self
    next.revision += 1
    next.sourceVersion = nil
    return next
  }

  /// The receipt of a transfer that has never written anything. It is not stored, so its successor
  /// has revision 1.
  static func none(_ id: String) -> TransferReceipt {
    TransferReceipt(
      id: id, state: .finished, date: .distantPast, revision: 0, movedCount: 0, pendingCount: 0)
  }
}

// MARK: - A receipt as one value

/// A receipt with all of its chunks, for destinations that store it as one value: preferences and
/// secrets.
struct WholeReceipt: Equatable, Sendable {
  /// The receipt itself.
  let receipt: TransferReceipt
  /// All of its entries, in order.
  private var chunks: [ReceiptChunk]

  /// - Parameter chunks: All entries of the receipt.
  private init(_ receipt: TransferReceipt, _ chunks: [ReceiptChunk]) {
    (self.receipt, self.chunks) = (receipt, chunks)
  }

  /// The chunk that begins at an index of the entries.
  func chunk(at index: Int) throws -> ReceiptChunk {
    var first = 0
    for chunk in chunks {
      if first == index { return chunk }
      first += chunk.count
    }
    // Another process has folded the chunks in the meantime.
    throw receipt.superseded(nil)
  }

  /// The replacement of `current` by a successor, with or without a chunk of new entries.
  ///
  /// Small neighbouring chunks are folded when a run is finished: an app that moves one item at
  /// each start would otherwise collect a chunk for each.
  ///
  /// - Throws: ``TransferError/Code/changed`` if `next` isn't the successor of `current`.
  static func succeeding(
    _ current: WholeReceipt?, _ next: TransferReceipt, adding chunk: ReceiptChunk? = nil
  ) throws -> WholeReceipt {
    try next.checkFollows(current?.receipt)
    var chunks = current?.chunks ?? []
    // Only an emptied receipt has no entries but chunks.
    if next.count == 0 { chunks = [] }
    if let chunk { chunks.append(chunk) }
    // Folded once a run is finished. Before that, each batch only appends its chunk.
    guard next.state == .finished else { return WholeReceipt(next, chunks) }
    let folded = chunks.reduce(into: [ReceiptChunk]()) { folded, chunk in
      if let both = folded.last?.folded(with: chunk) {
        folded[folded.count - 1] = both
      } else {
        folded.append(chunk)
      }
    }
    return WholeReceipt(next, folded)
  }
}

extension WholeReceipt: Codable {
  private enum Keys: String, CodingKey { case chunks }

  /// Decodes the receipt's fields, and `chunks` next to them.
  init(from decoder: any Decoder) throws {
    receipt = try TransferReceipt(from: decoder)
    chunks = try decoder.container(keyedBy: Keys.self).decode([ReceiptChunk].self, forKey: .chunks)
    // Missing entries would make moved items new, and duplicate them.
    guard chunks.reduce(0, { $0 + $1.count }) == receipt.count else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "Entries are missing."))
    }
  }

  /// The fields of the receipt, and `chunks` next to them.
  func encode(to encoder: any Encoder) throws {
    try receipt.encode(to: encoder)
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(chunks, forKey: .chunks)
  }
}
