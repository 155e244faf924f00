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

  /// What tells whether the file has changed: which file it is, its size and its times.
  ///
  /// A file that was changed a moment ago could be changed again within the same moment of its clock, so it has
  /// no mark yet.
  func versionTag() throws -> String? {
    guard let status = try POSIXDisk().statusFollowingLinks(url.checkedPath), status.kind == .file
    else { return nil }
    return status.hasReliableTimestamp ? status.versionTag : nil
  }

  /// Hands over what reads the file piece by piece; does nothing if the file doesn't exist or is empty.
  func withBytes(
    _ body: (_ read: @escaping (_ limit: Int) throws -> [UInt8]) throws -> Void
  ) throws {
    let disk = POSIXDisk()
    let path = try url.checkedPath
    guard let status = try disk.statusFollowingLinks(path) else { return }
    guard status.kind == .file else {
      throw FileError(code: .notAFile, message: "Only a plain file can be read.", path: path)
    }
    if status.size == 0 { return }
    try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK) { descriptor in
      try body { limit in
        try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
          count = try disk.read(descriptor, into: UnsafeMutableRawBufferPointer(buffer), path: path)
        }
      }
    }
  }

  /// The contents of the file, in order; nil if the file doesn't exist or is empty.
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
        code: .unsupported, message: "\(name) was opened for reading only. Open it to remove items."
      )
    }
    var removed = 0
    try AtomicFile(url).update { data in
      removed = 0
      guard let data, !data.isEmpty else { return nil }
      var known = IdentityMultiset(entries)
      let contents = try parse(data)
      let pieces = format.pieces(of: contents)
      let kept = try pieces.filter { piece in try known.remove(format.identity(of: piece)) == nil }
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

// MARK: - Formats

/// How the contents of a file are taken apart into items, and put together again without some.
protocol ItemFormat: Sendable {
  /// The contents, taken apart.
  associatedtype Contents
  /// One item as it is in the file.
  associatedtype Piece

  /// Throws for contents that are not in the format.
  func contents(of data: Data) throws -> Contents
  func pieces(of contents: Contents) -> [Piece]
  func identity(of piece: Piece) throws -> String
  /// The file with these pieces alone, which may be none.
  func data(of contents: Contents, keeping pieces: [Piece]) throws -> Data
}
