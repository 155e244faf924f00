import Foundation
import SteadFiles
import SteadSQLite

/// A copy of a store: of its database, and of the files of its large values.
struct StoreCopy {
  /// The file that the copy is in.
  let file: StoreFile

  /// - Parameter url: Where the copy is to be.
  init(of configuration: ModelConfiguration, at url: URL) {
    var copy = ModelConfiguration(configuration.name, schema: nil, url: url)
    copy.history = configuration.history
    copy.migration = .ofCopy
    file = StoreFile(copy)
  }

  private var path: String { file.configuration.url.path }

  /// Copies what is committed to the store; what was left of an earlier copy is removed first.
  ///
  /// The copy is its owner's alone.
  ///
  /// - Parameter report: Hears how many pages are copied and how many there are, and may stop it by throwing.
  func make(from store: StoreFile, report: (Int, Int) throws -> Void = { _, _ in }) throws {
    try remove()
    do {
      SQLiteFile.makePrivate(at: path)
      let source = try store.open(writable: false)
      try Self.put(source, into: file.open(writable: true, keepsJournalMode: true), report)
      try BlobLinks(source: store.blobDirectory, target: file.blobDirectory).add()
    } catch {
      try? remove()
      throw error
    }
  }

  /// Puts the pages of a store in place of another's; its transaction may have begun with the lock.
  private static func put(
    _ source: StoreConnection, into target: StoreConnection, _ report: (Int, Int) throws -> Void
  ) throws {
    // Who is killed here makes the copy anew.
    try target.execute("PRAGMA synchronous = OFF")
    let backup = try source.backup(into: target)
    try backup.run(report)
  }

  /// Removes the copy with all of its files.
  func remove() throws {
    for suffix in ["", "-wal", "-shm", "-journal"] where exists(path + suffix) {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
    try file.removeBlobs()
  }

  /// Whether there is a copy, or something of one.
  var hasFiles: Bool { exists(path) || exists(file.blobDirectory.path) }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}

extension SQLiteBackup {
  /// Copies all pages and commits.
  ///
  /// - Parameter report: Hears how many are copied and how many there are, and may stop it by throwing: then nothing
  ///   is changed.
  func run(_ report: (Int, Int) throws -> Void) throws {
    try lock()
    try report(0, total)
    // The last step commits.
    while try step() { try report(total - remaining, total) }
    try finish()
  }
}
