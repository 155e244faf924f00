import Foundation
import SteadFiles

/// A file whose contents are items in some format.
struct ItemFile<Format: ItemFormat>: Sendable {
  let url: URL
  let format: Format
  let isRemovable: Bool

  /// The file's name, and the directory's.
  var name: String {
    "\(url.deletingLastPathComponent().lastPathComponent)/\(url.lastPathComponent)"
  }

  /// What is in the file, in its order; nil when there is no file, or one without a byte.
  func contents() throws -> Format.Contents? {
    guard let data = try AtomicFile(url).readIfPresent(), !data.isEmpty else { return nil }
    return try parse(data)
  }

  /// The items, and what each holds.
  func items<Value>(
    _ progress: TransferProgress.Report, name: (Int, Format.Piece) -> String,
    value: (Format.Piece, Format.Contents) throws -> Value
  ) throws -> [TransferItem<Value>] {
    guard let contents = try contents() else { return [] }
    let pieces = format.pieces(of: contents)
    return try pieces.enumerated().map { index, piece in
      try progress(.init(phase: .reading, completed: index, total: pieces.count))
      return TransferItem(
        name: name(index, piece), identity: try format.identity(of: piece),
        value: Result { try value(piece, contents) })
    }
  }

  /// Writes the file without the items that entries stand for; again when another program was quicker.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    guard isRemovable else {
      throw TransferError(
        code: .unsupported, message: "\(name) is only read, unless it is opened to remove items.")
    }
    var removed = 0
    try AtomicFile(url).update { data in
      removed = 0
      guard let data, !data.isEmpty else { return nil }
      var counts = IdentityCounts(entries)
      let contents = try parse(data)
      let pieces = format.pieces(of: contents)
      let kept = try pieces.filter { piece in try !counts.take(format.identity(of: piece)) }
      removed = pieces.count - kept.count
      return removed == 0 ? nil : try format.data(of: contents, keeping: kept)
    }
    return removed
  }

  private func parse(_ data: Data) throws -> Format.Contents {
    do {
      return try format.contents(of: data)
    } catch let error as TransferError {
      throw error
    } catch {
      throw TransferError(
        code: .unreadable,
        message:
          "\(name) is not in the format that it should be in, and was left as it is. Correct it, "
          + "or move it away.", cause: error)
    }
  }
}

/// How many items of each identity are still to be taken out of a source.
struct IdentityCounts {
  private var counts: [String: Int] = [:]

  init(_ entries: [TransferReceipt.Entry]) {
    for entry in entries { counts[entry.identity, default: 0] += 1 }
  }

  /// Whether an item of this identity is to be taken out, which is then done for one more.
  mutating func take(_ identity: String) -> Bool {
    guard let count = counts[identity], count > 0 else { return false }
    counts[identity] = count - 1
    return true
  }
}
