import Foundation

/// Finds out from a store's files whether its write-ahead log is missing or was cut off.
///
/// SQLite opens such a store without an error, as it was before the log's transactions.
enum CoreDataLogCheck {
  private static let headerSize = 32
  private static let frameHeaderSize = 24
  /// What both of a database's format versions are when it has a log.
  private static let logVersion: UInt8 = 2

  /// The problem as a sentence, or nil.
  ///
  /// - Parameters:
  ///   - store: The file of the store, or a copy.
  ///   - name: The log's name as the user sees it.
  static func warning(about store: URL, logNamed name: String) throws -> String? {
    let file = try FileHandle(forReadingFrom: store)
    defer { try? file.close() }
    guard let header = try file.read(upToCount: 20), header.count == 20,
      header[18] == logVersion
    else { return nil }
    let log = store.path + "-wal"
    guard FileManager.default.fileExists(atPath: log) else {
      return
        "The store is written with a log, and \(name) is not next to it. If the file was copied "
        + "from a device, what was saved last may be missing: bring the log along."
    }
    guard try isWhole(URL(filePath: log)) else {
      return
        "\(name) is cut off, so what was saved last may be missing. Copy it again, with the "
        + "program that writes it ended."
    }
    return nil
  }

  /// Whether a log ends with a transaction.
  private static func isWhole(_ log: URL) throws -> Bool {
    let file = try FileHandle(forReadingFrom: log)
    defer { try? file.close() }
    let size = try file.seekToEnd()
    // Programs empty a log whose transactions are all in the store.
    if size == 0 { return true }
    try file.seek(toOffset: 0)
    guard let header = try file.read(upToCount: headerSize), header.count == headerSize else {
      return false
    }
    let pageSize = Int(header[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    guard pageSize >= 512, pageSize <= 65_536 else { return false }
    let salts = header[16..<24]
    let frameSize = frameHeaderSize + pageSize
    var offset = headerSize
    var endsWithCommit = true
    while offset < size {
      try file.seek(toOffset: UInt64(offset))
      guard let frame = try file.read(upToCount: frameHeaderSize), frame.count == frameHeaderSize
      else { return false }
      // The following frames belong to an earlier pass of the log.
      if frame[8..<16] != salts { break }
      guard UInt64(offset + frameSize) <= size else { return false }
      endsWithCommit = frame[4..<8].contains { $0 != 0 }
      offset += frameSize
    }
    return endsWithCommit
  }
}
