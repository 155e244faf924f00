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
    var place: String
    /// The digest of what was put there, in the destination's own form (``ItemDigest``); empty where what was
    /// there was kept instead.
    var digest: String

    /// The place of something that was there, whatever it is, or becomes.
    static func unverified(at place: String) -> Self { Self(place: place, digest: "") }

    /// Whether something was put there, which is to be found there.
    var isVerified: Bool { !digest.isEmpty }
  }

  /// The state of a source at a moment, as far as that is known without reading it.
  struct Mark: Hashable, Codable, Sendable {
    /// The same for as long as nothing has changed.
    var text: String
    /// How many items the source held.
    var count: Int
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
  var mark: TransferReceipt.Mark?

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
    mark = try fields.decodeIfPresent(TransferReceipt.Mark.self, forKey: .mark)
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
    try fields.encodeIfPresent(mark, forKey: .mark)
  }

  static func unknownVersion(_ version: Int) -> TransferError {
    TransferError(
      code: .unsupported,
      message: "The transfer's receipt is of version \(version), and this program knows version "
        + "\(Self.version). Nothing was changed; use the version of the program that wrote it.")
  }
}

typealias TransferPlacement = TransferReceipt.Placement
