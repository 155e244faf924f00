import CSteadFiles
import Foundation

/// A journal file that is being written under a temporary name.
///
/// ``init(at:on:checkpoint:metadata:records:)`` returns a file that is complete and synced. Later changes (appended
/// records, words of the header page) are not synced; whoever needs that syncs the file.
///
/// Whoever makes a draft ends it, by a rename and ``TemporaryFile/finishKeepingOpen()``, or by
/// ``TemporaryFile/finish()``, which removes it.
struct JournalDraft {
  var temporary: TemporaryFile
  let header: JournalHeader
  /// Where the records end.
  private(set) var tail: Int
  /// Whether it lacks a part of the file that it replaces, which owners have in memory.
  var isPartial = false
  private var byteCount = 0
  /// The lost files that it contains.
  private(set) var lineage = JournalLineage()
  /// Where its records were written first.
  private(set) var origins = JournalOrigins()

  /// Writes a checkpoint, followed by the records of another file that are to be kept.
  init(
    at path: String, on disk: any Disk, checkpoint: UnsafeRawBufferPointer, metadata: Data,
    records: Records? = nil
  ) throws {
    guard checkpoint.count <= Journal.checkpointLimit, metadata.count <= Journal.metadataLimit
    else {
      throw FileError(
        code: .tooLarge,
        message: "A journal's checkpoint has at most \(Journal.checkpointLimit) bytes, and its "
          + "metadata \(Journal.metadataLimit); keep large values in files.", path: path)
    }
    header = JournalHeader(
      // 0 is what a reader finds in a truncated file, so no file has it.
      salt: .random(in: 1 ... .max), checkpointByteCount: checkpoint.count,
      checkpointChecksum: checkpoint.checksum, metadata: metadata)
    // The checksums cover the salt, so copied records get new ones.
    let log = try records?.sealed(seed: header.seed, path: path) ?? Data()
    tail = header.logStart + log.count
    if let records {
      origins.add(recordsOf: records.origins, in: records.range, at: header.logStart)
    }
    // From here on an error has to remove the file.
    temporary = try TemporaryFile(beside: path, on: disk)
    do {
      // The journal keeps its permissions and its owner over all replacements.
      let old = try disk.status(at: path)
      try temporary.copyOwnership(
        of: old, permissions: old.map { .init(rawValue: UInt16($0.mode)) } ?? .ownerOnly)
      try temporary.write(header.page(tail: tail))
      try temporary.write(checkpoint)
      let end = JournalLayout.headerByteCount + checkpoint.count
      try temporary.write(Data(count: header.logStart - end) + log)
      byteCount = tail
      // Room with allocated blocks: the first appends need no system call, and can't fail on a full disk.
      try extend(to: tail + JournalLayout.endByteCount, path: path)
      try write(origins.bytes, at: JournalLayout.origins, path: path)
      try temporary.sync()
    } catch {
      temporary.finish()
      throw error
    }
  }

  /// Appends records after the existing ones. They are not synced.
  mutating func append(_ records: Records, path: String) throws {
    let log = try records.sealed(seed: header.seed, path: path)
    try extend(to: tail + log.count + JournalLayout.endByteCount, path: path)
    try write(log, at: tail, path: path)
    origins.add(recordsOf: records.origins, in: records.range, at: tail)
    try write(origins.bytes, at: JournalLayout.origins, path: path)
    tail += log.count
    var word = UInt64(tail).littleEndian
    try write(Data(bytes: &word, count: 8), at: JournalLayout.tail, path: path)
  }

  /// Writes the list of lost files that the file contains.
  mutating func write(_ lineage: JournalLineage, path: String) throws {
    self.lineage = lineage
    try write(lineage.bytes, at: JournalLayout.lineage, path: path)
  }

  /// Writes the generation, which is greater than that of the file that this one replaces.
  func write(generation: UInt64, path: String) throws {
    var word = generation.littleEndian
    try write(Data(bytes: &word, count: 8), at: JournalLayout.generation, path: path)
  }

  private func write(_ data: Data, at offset: Int, path: String) throws {
    let error = data.withUnsafeBytes { bytes in
      bytes.baseAddress.map {
        stead_file_write(temporary.descriptor, $0, bytes.count, Int64(offset))
      } ?? 0
    }
    guard error == 0 else { throw FileError(errno: error, doing: "write to the file", path: path) }
  }

  private mutating func extend(to needed: Int, path: String) throws {
    guard needed > byteCount else { return }
    let size = JournalLayout.fileByteCount(now: 0, needed: needed)
    let error = stead_file_extend(temporary.descriptor, Int64(byteCount), Int64(size))
    guard error == 0 else { throw FileError(errno: error, doing: "extend the file", path: path) }
    byteCount = size
  }

  /// Complete records of another file.
  struct Records {
    let log: JournalLog
    let range: Range<Int>
    /// Where they were written first.
    let origins: JournalOrigins

    init(of file: MappedFile, seed: UInt32, in range: Range<Int>) {
      log = JournalLog(bytes: file.bytes, seed: seed)
      origins = JournalOrigins(file)
      self.range = range
    }

    /// The records with the checksums for a file with another seed.
    ///
    /// - Throws: ``FileError`` `.changed` when another program has overwritten them. They are verified in the copy:
    ///   otherwise garbage would get a valid checksum.
    func sealed(seed: UInt32, path: String) throws -> Data {
      // A reader that has skipped damage may be behind the end of what is mapped.
      guard range.upperBound <= log.bytes.count else { throw FileError.overwritten(path) }
      var copy = Data(log.bytes[range])
      let isWhole = copy.withUnsafeMutableBytes { bytes in
        let log = JournalLog(bytes: UnsafeRawBufferPointer(bytes), seed: log.seed)
        var offset = 0
        while let payload = log.payload(at: offset, limit: bytes.count) {
          let checksum = stead_crc32c_record(seed, payload.baseAddress!, UInt32(payload.count))
          bytes.storeBytes(of: checksum.littleEndian, toByteOffset: offset + 4, as: UInt32.self)
          offset = JournalLog.end(ofPayloadAt: offset, payload)
        }
        return offset == bytes.count
      }
      guard isWhole else { throw FileError.overwritten(path) }
      return copy
    }
  }
}
