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
    throw receipt.overtaken(nil)
  }

  /// The replacement of `current` for a following receipt, with or without a chunk of new entries.
  ///
  /// - Throws: ``TransferError`` `.changed` when it follows another one.
  static func following(
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
