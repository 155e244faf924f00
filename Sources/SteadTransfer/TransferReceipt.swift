import Foundation

/// A destination's record of a transfer: its progress, and how many items of the source it has.
///
/// It is written together with the items, so that after a kill it shows whether they were written. The list of the
/// items is kept next to it, in chunks (``ReceiptChunk``), which are read when they are needed.
struct TransferReceipt: Hashable, Sendable {
  /// The version of the form that a receipt is kept in; one of another version is refused.
  static let version = 2

  /// One item that was moved.
  struct Entry: Hashable, Sendable {
    /// The item's identity in the source.
    var identity: String
    /// Where it is now.
    var placement: Placement
  }

  /// The place of an element, and its expected contents.
  struct Placement: Hashable, Sendable {
    /// The place within the destination: an identifier of a record, a key, an account, a relative path.
    var location: String
    /// The digest of what was put there, in the destination's own form (``ItemDigest``); empty where what was
    /// there was kept instead.
    var digest: String

    /// The place of something that was there, whatever it is, or becomes.
    static func unverified(at location: String) -> Self { Self(location: location, digest: "") }

    /// Whether something was put there, which is to be found there.
    var isVerified: Bool { !digest.isEmpty }
  }

  /// The state of a source at a moment, as far as that is known without reading it.
  struct SourceVersion: Hashable, Codable, Sendable {
    /// The same for as long as nothing has changed.
    var tag: String
    /// How many items the source held.
    var count: Int

    // The stored name of the tag is that of version 2 of the format.
    private enum CodingKeys: String, CodingKey { case count, tag = "text" }
  }

  /// How far the transfer has come.
  enum State: String, Codable, Sendable {
    /// Some items are written, and the same run will write more. The source still has all of them.
    case writing
    /// The last items are written, and the source may still have them.
    case written
    /// They were read back, and the source has given them up or keeps them on purpose.
    case finished
  }

  /// The transfer's name.
  var id: String
  /// The name of the source that the items are from; nil if its name doesn't identify it, or nothing was moved.
  var source: String?
  var state: State
  /// When the last items were written.
  var date: Date
  /// Grows by one with each change, so that of two runs at once the later one is noticed.
  var revision: Int
  /// How many items finished runs have moved: the first of all entries.
  var movedCount: Int
  /// How many items were written by the run that is not finished: the last of all entries.
  var pendingCount: Int
  /// What the source was when all that it held was moved; nil when something was left, or when the source
  /// cannot tell.
  var sourceVersion: TransferReceipt.SourceVersion?

  /// The number of entries.
  var count: Int { movedCount + pendingCount }
  /// The places of what is pending among all entries.
  var pending: Range<Int> { movedCount..<count }
}

extension TransferReceipt: Codable {
  private enum Keys: String, CodingKey {
    case version, id, source, state, date, revision, moved, pending, mark
  }

  /// Throws ``TransferError`` `.unsupported` for a receipt of another version.
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
  /// Throws unless this receipt may replace `current`, which is nil if none exists.
  ///
  /// A destination checks this in the transaction that writes the receipt. So if two processes run the same transfer
  /// at once, one writes, and the other gets an error that asks for another run.
  ///
  /// - Throws: ``TransferError`` `.changed`.
  func checkFollows(_ current: TransferReceipt?) throws {
    guard revision == (current?.revision ?? 0) + 1 else { throw superseded(nil) }
  }

  /// Another run was quicker.
  func superseded(_ cause: (any Error)?) -> TransferError {
    TransferError(
      code: .changed,
      message:
        "Another run of the transfer \(id) finished first. Run it again to see what is left.",
      cause: cause)
  }

  /// The receipt when further items are written.
  ///
  /// - Parameter isLast: Whether these are the last of the run.
  func adding(_ count: Int, at date: Date, isLast: Bool = true) -> TransferReceipt {
    var next = incremented()
    (next.state, next.date) = (isLast ? .written : .writing, date)
    next.pendingCount += count
    return next
  }

  /// The receipt when it turns out that the last items are written.
  func completed() -> TransferReceipt {
    var next = incremented()
    next.state = .written
    return next
  }

  /// The receipt after the source has removed the pending items, or keeps them on purpose.
  func finished(sourceVersion: TransferReceipt.SourceVersion?) -> TransferReceipt {
    var next = incremented()
    next.state = .finished
    (next.movedCount, next.pendingCount) = (count, 0)
    next.sourceVersion = sourceVersion
    return next
  }

  /// The receipt once it is known that all of the source's items were moved.
  func recording(_ sourceVersion: TransferReceipt.SourceVersion) -> TransferReceipt {
    var next = incremented()
    next.sourceVersion = sourceVersion
    return next
  }

  /// The receipt that has forgotten everything.
  func emptied() -> TransferReceipt {
    var next = incremented()
    next.state = .finished
    (next.movedCount, next.pendingCount, next.source) = (0, 0, nil)
    return next
  }

  private func incremented() -> TransferReceipt {
    var next = self
    next.revision += 1
    next.sourceVersion = nil
    return next
  }

  /// Before a transfer has moved anything; it is kept nowhere.
  static func none(_ id: String) -> TransferReceipt {
    TransferReceipt(
      id: id, state: .finished, date: .distantPast, revision: 0, movedCount: 0, pendingCount: 0)
  }
}

// MARK: - A receipt as one value

/// A receipt with all its chunks, for destinations that keep it as one value.
struct WholeReceipt: Equatable, Sendable {
  let receipt: TransferReceipt
  private var chunks: [ReceiptChunk]

  /// - Parameter chunks: The chunks of the receipt that it follows.
  private init(_ receipt: TransferReceipt, _ chunks: [ReceiptChunk]) {
    (self.receipt, self.chunks) = (receipt, chunks)
  }

  /// The chunk that begins at an entry.
  func chunk(at index: Int) throws -> ReceiptChunk {
    var first = 0
    for chunk in chunks {
      if first == index { return chunk }
      first += chunk.count
    }
    throw receipt.superseded(nil)
  }

  /// The replacement of `current` for a following receipt, with or without a chunk of new entries.
  ///
  /// - Throws: ``TransferError`` `.changed` when it follows another one.
  static func succeeding(
    _ current: WholeReceipt?, _ next: TransferReceipt, adding chunk: ReceiptChunk? = nil
  ) throws -> WholeReceipt {
    try next.checkFollows(current?.receipt)
    var chunks = current?.chunks ?? []
    if next.count == 0 { chunks = [] }
    if let chunk { chunks.append(chunk) }
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

  init(from decoder: any Decoder) throws {
    receipt = try TransferReceipt(from: decoder)
    chunks = try decoder.container(keyedBy: Keys.self).decode([ReceiptChunk].self, forKey: .chunks)
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
