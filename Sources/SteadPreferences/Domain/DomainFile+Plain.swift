import Foundation
import SteadFiles
import SteadFormats

// On a file system that cannot hold a journal the property list is the only file: each change reads and writes all of it.
extension DomainFile {
  /// Whether the property list is the only file.
  var isPlain: Bool { unsupported != nil && !options.isReadOnly }

  private var plain: PlainFile {
    PlainFile(
      plist, lock: directory.appending(path: name + ".lock", directoryHint: .notDirectory))
  }

  /// Notes that the file system cannot hold a journal, and reports it once.
  func becomePlain(_ error: FileError) {
    let isFirst = unsupported == nil
    unsupported = error
    guard isFirst, !options.isReadOnly else { return }
    problems.add(
      PreferencesError(
        code: .unavailable,
        message:
          "The file system of \(directory.path(percentEncoded: false)) lacks locks or cannot map files. Values are "
          + "stored in the property list alone, all of which each change reads and writes. \(DirectoryRemedy.local)",
        domain: name, cause: error))
  }

  /// Applies several edits as one if the expected values still hold, and returns whether they did.
  @discardableResult
  func applyPlainly(
    ifStill expected: [DomainEdit] = [], _ replay: inout Replay,
    _ make: (Replay) -> [DomainEdit]
  ) throws -> Bool {
    try plain.withLock {
      try takeInPlainFile(&replay)
      guard replay.holds(expected) else { return false }
      let edits = pending.edits + make(replay)
      guard !edits.isEmpty else { return true }
      try replay.checkQuota(options.quota, edits)
      var table = replay.table
      for edit in edits { table.replace(edit.key, with: edit.value) }
      lastSeen = try plain.replace(with: plainContents(table))
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
      pending = PendingEdits()
      return true
    }
  }

  private func plainContents(_ table: DomainTable) throws -> Data {
    if options.format == .xml, let xml = xml(table) { return xml }
    return try BinaryPropertyList.encode(table.fields())
  }

  /// Applies what others have written.
  ///
  /// - Throws: ``PreferencesError`` `.damaged` when the file does not parse. It is left as it is.
  func takeInPlainFile(_ replay: inout Replay) throws {
    guard let status = try plain.status(), status != lastSeen else { return }
    let data = try AtomicFile(plist).read()
    let fields: PropertyList.Fields
    do {
      fields = try PropertyList.fields(of: data)
    } catch {
      throw PreferencesError(
        code: .damaged,
        message:
          "The property list \(plist.lastPathComponent) does not parse. Repair it or move it away.",
        domain: name, cause: error)
    }
    let mine = Set(pending.edits.map { Array($0.key.utf8) })
    for edit in replay.table.edits(to: fields) where !mine.contains(Array(edit.key.utf8)) {
      replay.marks.rewrites += 1
      replay.edit(edit.key, edit.value, isOwn: false)
    }
    lastSeen = status
  }
}
