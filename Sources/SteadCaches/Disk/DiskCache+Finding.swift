import Foundation
import SteadFiles

extension DiskCache {
  /// How often a value's file is looked for when entries are replaced between the look into the database and the
  /// opening of the file.
  private static let openingLimit = 10

  /// An entry that is valid, with what leads to its value.
  struct Found {
    let entry: StoredEntry
    let file: ValueFile?
    let generation: Int64

    var stored: Stored {
      Stored(
        id: Entry.ID(generation: generation, number: entry.id), stored: entry.stored,
        expires: entry.expires, isIdle: entry.form.contains(.idle))
    }

    /// The value; nil if it differs from what was written.
    var contents: Data? { entry.value ?? (try? file?.contents()) }
  }

  /// The entry of a key; nil if none exists, or if it isn't valid or is damaged.
  ///
  /// - Parameter origin: An object for which it is no change that the entry lives longer from now on.
  func find(_ key: String, by origin: ChangeOrigin? = nil) -> Found? {
    for _ in 0..<Self.openingLimit {
      guard let (entry, open) = lookUp(key) else { return nil }
      // After the look-up, so that no entry was stored later.
      guard isFound(entry) else { return nil }
      if entry.value != nil {
        return used(Found(entry: entry, file: nil, generation: open.generation), by: origin)
      }
      let path = database.directory.path(ofValue: open.name(ofValue: entry.id))
      do {
        let file = try open.rights.use {
          try ValueFile(
            path, length: entry.length, body: entry.body, disk: database.directory.disk)
        }
        guard let file else { continue }
        return used(Found(entry: entry, file: file, generation: open.generation), by: origin)
      } catch {
        return nil
      }
    }
    return nil
  }

  private func used(_ found: Found, by origin: ChangeOrigin?) -> Found {
    database.noteUse(found.entry.used)
    if let id = found.stored.id, let expires = prolonged(found.stored) {
      prolong(id, until: expires, by: origin)
    }
    return found
  }

  /// The identifier of the value that is stored for a key, without reading it; nil if none is valid.
  func identify(_ key: String) -> Entry.ID? {
    guard let (entry, open) = lookUp(key, readsValue: false),
      isFound(entry)
    else { return nil }
    database.noteUse(entry.used)
    return Entry.ID(generation: open.generation, number: entry.id)
  }

  private func isFound(_ entry: StoredEntry) -> Bool {
    entry.isValid(
      at: WallClock.milliseconds(database.now()), evenIfStoredLater: limits.findsEntriesStoredLater)
  }

  private func lookUp(_ key: String, readsValue: Bool = true) -> (StoredEntry, OpenDatabase)? {
    var key = key
    let found = key.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      return database.read { reader, open in
        try reader.entry(for: bytes, hash: open.hash(bytes), readsValue: readsValue).map {
          ($0, open)
        }
      }
    }
    return found ?? nil
  }
}
