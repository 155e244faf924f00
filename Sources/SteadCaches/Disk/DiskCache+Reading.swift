public import Foundation
import SteadFiles

extension DiskCache {
  /// An entry as it was when it was looked up.
  ///
  /// A value in a file stays open as long as an entry of it exists, so it can be read to its end
  /// even if it is removed or replaced meanwhile.
  public struct Entry: Sendable {
    /// Distinguishes a stored value from all that are stored before and after it under the same
    /// key.
    public struct ID: Hashable, Sendable {
      let generation: Int64
      let number: Int64
    }

    /// Distinguishes this value from others that were stored for the key.
    public let id: ID
    /// The small data that was stored with the value.
    public let metadata: Data
    /// The value's size in bytes.
    public let size: Int
    /// When the value was stored.
    public let storedAt: Date
    /// When the entry expires; nil if it does not.
    public let expiresAt: Date?
    /// The names that the entry shares with others.
    public let tags: Set<String>
    private let found: Found

    init(_ found: Found) {
      self.found = found
      id = ID(generation: found.generation, number: found.entry.id)
      metadata = found.entry.metadata
      size = found.entry.length
      storedAt = WallClock.date(found.entry.stored)
      expiresAt =
        found.entry.expires == WallClock.never ? nil : WallClock.date(found.entry.expires)
      tags = found.entry.tags.tags
    }

    /// All bytes of the value; nil if they differ from what was written.
    ///
    /// Reads a value in a file each time, and checks all of it first.
    public var data: Data? { found.contents }

    /// The bytes of the value in order, or a part of them, in pieces of at most 64 KiB.
    ///
    /// - Parameter range: Which bytes, counted from 0; those beyond the value's end are left out.
    public func chunks(in range: Range<Int>? = nil) -> Chunks {
      Chunks(found: found, range: (range ?? 0..<size).clamped(to: 0..<size))
    }
  }

  /// The bytes of a value, read from the disk piece by piece.
  ///
  /// Iterating throws ``FileError`` `.damaged` instead of returning bytes that differ from what was
  /// written. Treat it as a miss.
  public struct Chunks: AsyncSequence, Sendable {
    let found: Found
    let range: Range<Int>

    public func makeAsyncIterator() -> Iterator { Iterator(found: found, rest: range) }

    /// Reads the value from the position that it has reached.
    public struct Iterator: AsyncIteratorProtocol {
      let found: Found
      var rest: Range<Int>
      /// The running checksum of the bytes before the next block; nil before the first read.
      private var sum: UInt32?

      init(found: Found, rest: Range<Int>) {
        self.found = found
        self.rest = rest
      }

      /// The next piece; nil at the end.
      public mutating func next() async throws -> Data? {
        guard !rest.isEmpty else { return nil }
        // A checksum covers a whole block, so the first and the last block of a part are read whole
        // and cut.
        let number = rest.lowerBound / ValueFile.blockSize
        let start = number * ValueFile.blockSize
        let block = try block(number, from: start)
        let part = rest.clamped(to: start..<start + block.count)
        rest = part.upperBound..<rest.upperBound
        return block.dropFirst(part.lowerBound - start).prefix(part.count)
      }

      private mutating func block(_ number: Int, from start: Int) throws -> Data {
        guard let file = found.file else {
          return (found.entry.value ?? Data()).dropFirst(start).prefix(ValueFile.blockSize)
        }
        // Checksums are cumulative: the first block of a part needs that of the block before it.
        var sum = try self.sum ?? file.sum(before: number)
        defer { self.sum = sum }
        return try file.block(number, after: &sum)
      }
    }
  }

  /// Returns the entry of a key, with its metadata and access to its value; nil if none is valid.
  ///
  /// ```swift
  /// guard let entry = cache.entry(for: "video") else { return }
  /// for try await chunk in entry.chunks(in: 0..<1_000_000) { send(chunk) }
  /// ```
  ///
  /// Costs what a get costs for a small value, and opening a file for one in a file.
  public func entry(for key: String) -> Entry? {
    defer { database.report() }
    return count(find(key).map(Entry.init))
  }

  /// Replaces the metadata of an entry, but neither its value nor its times.
  ///
  /// - Parameter id: The value that the metadata belongs to.
  /// - Returns: Whether the metadata are stored. False leaves the entry as it was: if another value
  ///   was stored for the key or none exists, or for the reasons of
  ///   ``setData(_:for:timeToLive:tags:)``.
  @discardableResult
  public func setMetadata(_ metadata: Data, for key: String, ifStoredAs id: Entry.ID) -> Bool {
    setMetadata(metadata, for: key, ifStoredAs: id, holding: nil) == .done
  }

  // MARK: - Look-ups

  /// The number of attempts to open a value's file, when entries are replaced again and again
  /// between the look-up and the opening.
  private static let openingLimit = 10

  /// A valid entry, with its value or its open file.
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

  /// Returns the entry of a key; nil if none exists, or if it has expired or is damaged.
  ///
  /// - Parameter origin: The object that looks, whose ``ChangeToken`` stays the same if the use
  ///   extends the entry's life.
  func find(_ key: String, by origin: ChangeOrigin? = nil) -> Found? {
    for _ in 0..<Self.openingLimit {
      guard let (entry, open) = lookUp(key) else { return nil }
      // The clock is read after the look-up, so that an entry that was just stored isn't in the
      // future.
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
        // Gone: replaced or evicted since the look-up. A new look-up tells which.
        guard let file else { continue }
        return used(Found(entry: entry, file: file, generation: open.generation), by: origin)
      } catch {
        // A damaged or unreadable file is a miss of this entry, and no problem of the cache.
        return nil
      }
    }
    return nil
  }

  private func used(_ found: Found, by origin: ChangeOrigin?) -> Found {
    // In memory: writing each use down would cost each get a transaction.
    database.recordUse(found.entry.used)
    if let id = found.stored.id, let expires = prolonged(found.stored) {
      prolong(id, until: expires, by: origin)
    }
    return found
  }

  /// Returns the identifier of the value that is stored for a key, without reading the value; nil
  /// if none is valid.
  func identify(_ key: String) -> Entry.ID? {
    guard let (entry, open) = lookUp(key, readsValue: false),
      isFound(entry)
    else { return nil }
    database.recordUse(entry.used)
    return Entry.ID(generation: open.generation, number: entry.id)
  }

  private func isFound(_ entry: StoredEntry) -> Bool {
    entry.isValid(
      at: WallClock.milliseconds(database.now()), evenIfStoredLater: limits.findsEntriesStoredLater)
  }

  private func lookUp(_ key: String, readsValue: Bool = true) -> (StoredEntry, OpenDatabase)? {
    var key = key
    // A native string's own bytes, so that a get copies no key.
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
