import Foundation

/// What a destination knows of a transfer: which items of the source it has, and where.
///
/// It is written as one with the items, so that after a kill it is known whether they are there. It has
/// an entry for each item that was ever moved, some 250 bytes.
struct TransferReceipt: Hashable, Sendable {
  /// The version of the form that a receipt is kept in; one of a newer version is refused.
  static let version = 1

  /// One item that was moved.
  struct Entry: Hashable, Codable, Sendable {
    /// The item's identity in the source.
    var identity: String
    /// Where it is now.
    var placement: TransferPlacement

    /// An entry.
    init(identity: String, placement: TransferPlacement) {
      self.identity = identity
      self.placement = placement
    }
  }

  /// How far the transfer has come.
  enum State: String, Codable, Sendable {
    /// The items of `pending` are written, and the source may still hold them.
    case written
    /// They were read back, and the source has given them up or keeps them on purpose.
    case finished
  }

  /// The transfer's name.
  var id: String
  /// How far it has come.
  var state: State
  /// When the last items were written.
  var date: Date
  /// What earlier runs have moved.
  var moved: [Entry]
  /// What the last run has written; moved on to `moved` when it is finished.
  var pending: [Entry]

  /// A receipt.
  init(id: String, state: State, date: Date, moved: [Entry], pending: [Entry]) {
    self.id = id
    self.state = state
    self.date = date
    self.moved = moved
    self.pending = pending
  }
}

extension TransferReceipt: Codable {
  private enum Keys: String, CodingKey { case version, id, state, date, moved, pending }

  /// Throws ``TransferError`` `.unsupported` for a receipt of a newer version.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    let version = try fields.decode(Int.self, forKey: .version)
    guard version == Self.version else {
      throw TransferError(
        code: .unsupported,
        message: "The transfer's receipt is of version \(version), and this program knows version "
          + "\(Self.version). Use a newer version of the program.")
    }
    id = try fields.decode(String.self, forKey: .id)
    state = try fields.decode(State.self, forKey: .state)
    date = try fields.decode(Date.self, forKey: .date)
    moved = try fields.decode([Entry].self, forKey: .moved)
    pending = try fields.decode([Entry].self, forKey: .pending)
  }

  /// Writes the version first, then all fields.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(Self.version, forKey: .version)
    try fields.encode(id, forKey: .id)
    try fields.encode(state, forKey: .state)
    try fields.encode(date, forKey: .date)
    try fields.encode(moved, forKey: .moved)
    try fields.encode(pending, forKey: .pending)
  }
}

/// Where an element was put, and what must be there.
struct TransferPlacement: Hashable, Codable, Sendable {
  /// The place within the destination: an identifier of a record, a key, an account, a relative path.
  var place: String
  /// The SHA-256 of what was put there, in the destination's own form, hexadecimal.
  var digest: String

  /// A placement.
  init(place: String, digest: String) {
    self.place = place
    self.digest = digest
  }
}
