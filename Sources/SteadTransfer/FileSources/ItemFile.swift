import Foundation
import SteadFiles

/// A file whose contents are items in some format.
struct ItemFile<Format: ItemFormat>: Sendable {
  /// The file, which need not exist.
  let url: URL
  /// Splits the file into items, and joins it again.
  let format: Format
  /// Whether the file was opened to remove items.
  let isRemovable: Bool

  /// The file's name, with that of its directory.
  var name: String {
    "\(url.deletingLastPathComponent().lastPathComponent)/\(url.lastPathComponent)"
  }

  /// The file's identity, size and times; nil if the file changed so recently that another change
  /// might not alter them, or doesn't exist.
  func versionTag() throws -> String? {
    guard let status = try POSIXDisk().statusFollowingLinks(url.checkedPath), status.kind == .file
    else { return nil }
    // Without a tag the file is read, which is never wrong.
    return status.hasReliableTimestamp ? status.versionTag : nil
  }

  /// Calls a body with a function that reads the file block by block. Does nothing if the file
  /// doesn't exist or is empty.
  func withBytes(
    _ body: (_ read: @escaping (_ limit: Int) throws -> [UInt8]) throws -> Void
  ) throws {
    let disk = POSIXDisk()
    let path = try url.checkedPath
    // A file that doesn't exist is an empty source: an app runs the transfer at each start, also
    // after the file is gone.
    guard let status = try disk.statusFollowingLinks(path) else { return }
    guard status.kind == .file else {
      throw FileError(code: .notAFile, message: "Only a plain file can be read.", path: path)
    }
    // An empty file has no header, and is no error.
    if status.size == 0 { return }
    // O_NONBLOCK, so that opening a FIFO that replaced the file in between can't block.
    try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK) { descriptor in
      try body { limit in
        try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
          count = try disk.read(descriptor, into: UnsafeMutableRawBufferPointer(buffer), path: path)
        }
      }
    }
  }

  /// The parsed contents; nil if the file doesn't exist or is empty.
  func contents() throws -> Format.Contents? {
    guard let data = try AtomicFile(url).readIfPresent(), !data.isEmpty else { return nil }
    return try parse(data)
  }

  /// The items of the file.
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

  /// Rewrites the file without the items of the entries, again if another process has changed it in
  /// between.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    guard isRemovable else {
      throw TransferError(
        code: .unsupported, message: "\(name) was opened for reading only. Open it to remove items."
      )
    }
    var removed = 0
    // Compare and swap, so that what other programs add in between isn't lost.
    try AtomicFile(url).update { data in
      // `update` calls this again with newer data if another process was faster.
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

  /// Parses the contents; any error becomes one of a transfer.
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

/// A format that can be split into items, and joined again without some.
protocol ItemFormat: Sendable {
  /// The parsed contents.
  associatedtype Contents
  /// An item in its stored form.
  associatedtype Piece

  /// Parses a file; throws if it isn't in the format.
  func contents(of data: Data) throws -> Contents
  /// The items, in order.
  func pieces(of contents: Contents) -> [Piece]
  /// The identity of an item.
  func identity(of piece: Piece) throws -> String
  /// The file with only these items, which may be none.
  func data(of contents: Contents, keeping pieces: [Piece]) throws -> Data
}

// MARK: - Sources

/// A source whose items are in a file.
protocol FileSource: ItemSource {
  /// How the file is split into items.
  associatedtype Format: ItemFormat

  /// The file.
  var file: ItemFile<Format> { get }
}

extension FileSource {
  /// Whether the file was opened to remove items.
  var isRemovable: Bool { file.isRemovable }

  /// The version tag of the file.
  func versionTag() throws -> String? { try file.versionTag() }

  /// Rewrites the file without the items that still are what was moved.
  ///
  /// - Throws: ``TransferError/Code/unsupported`` if the file may only be read.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int { try file.remove(entries) }
}
