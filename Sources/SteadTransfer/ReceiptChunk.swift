/// Some of a receipt's entries, in their order, packed: 32 bytes each where places follow each other.
///
/// A run writes one with each chunk of items, as one with them. When the run is finished, small ones are
/// folded into one, so that many runs of few items leave few chunks.
struct ReceiptChunk: Equatable, Sendable {
  /// The most entries that chunks are folded to, and that a chunk of a streamed source has.
  static let foldLimit = 4096
  /// The most entries of one chunk. A destination that takes all items at once gets them in one.
  static let limit = Int(Int32.max)

  private var identities: PackedTexts
  private var places: PackedTexts
  private var digests: PackedTexts
  private(set) var count: Int

  init(_ entries: [TransferReceipt.Entry]) {
    identities = PackedTexts(entries.lazy.map(\.identity))
    places = PackedTexts(entries.lazy.map(\.placement.place))
    digests = PackedTexts(entries.lazy.map(\.placement.digest))
    count = entries.count
  }

  var entries: [TransferReceipt.Entry] {
    zip(identities.texts, placements).map { .init(identity: $0, placement: $1) }
  }

  var identityTexts: [String] { identities.texts }

  var placements: [TransferPlacement] {
    zip(places.texts, digests.texts).map { TransferPlacement(place: $0, digest: $1) }
  }

  /// Both in one, if that is not too large.
  func folded(with next: ReceiptChunk) -> ReceiptChunk? {
    guard count + next.count <= Self.foldLimit else { return nil }
    return ReceiptChunk(entries + next.entries)
  }
}

extension ReceiptChunk: Codable {
  private enum Keys: String, CodingKey { case identities, places, digests }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    identities = try fields.decode(PackedTexts.self, forKey: .identities)
    places = try fields.decode(PackedTexts.self, forKey: .places)
    digests = try fields.decode(PackedTexts.self, forKey: .digests)
    count = identities.count
    guard places.count == count, digests.count == count else {
      throw DecodingError.dataCorruptedError(
        forKey: .places, in: fields, debugDescription: "The numbers of places and items differ."
      )
    }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(identities, forKey: .identities)
    try fields.encode(places, forKey: .places)
    try fields.encode(digests, forKey: .digests)
  }
}
