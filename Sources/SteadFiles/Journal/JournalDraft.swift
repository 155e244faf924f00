import CSteadFiles
import Foundation

/// A journal file that is being made under a temporary name, complete and durable before it is used.
struct JournalDraft {
  let temporary: TemporaryFile
  let header: JournalHeader
  let tail: Int

  /// Writes a checkpoint, and behind it those records of another file that are to be kept.
  init(
    at path: String, on disk: any Disk, checkpoint: UnsafeRawBufferPointer, metadata: Data,
    records: Records? = nil
  ) throws {
    guard checkpoint.count <= Journal.checkpointLimit, metadata.count <= Journal.metadataLimit
    else {
      throw FileError(
        code: .tooLarge, message: "The checkpoint or its metadata is above the limit.", path: path)
    }
    header = JournalHeader(
      salt: .random(in: 1 ... .max), checkpointByteCount: checkpoint.count,
      checkpointChecksum: checkpoint.checksum, metadata: metadata)
    let log = records?.sealed(seed: header.seed) ?? Data()
    tail = header.logStart + log.count
    temporary = try TemporaryFile(beside: path, on: disk)
    do {
      try temporary.write(header.page(tail: tail))
      try temporary.write(checkpoint)
      let end = JournalLayout.headerByteCount + checkpoint.count
      try temporary.write(Data(count: header.logStart - end) + log)
      try extend(to: tail + JournalLayout.endByteCount, path: path)
      try temporary.sync()
    } catch {
      temporary.finish()
      throw error
    }
  }

  private func extend(to needed: Int, path: String) throws {
    let size = JournalLayout.fileByteCount(now: 0, needed: needed)
    let error = stead_file_extend(temporary.descriptor, Int64(tail), Int64(size))
    guard error == 0 else { throw FileError(errno: error, doing: "make it longer", path: path) }
  }

  /// Whole records of another file.
  struct Records {
    let log: JournalLog
    let range: Range<Int>

    /// The records with the checksums that they have in a file of another seed.
    func sealed(seed: UInt32) -> Data {
      var copy = Data(log.bytes[range])
      var offset = range.lowerBound
      while let payload = log.payload(at: offset, limit: range.upperBound, isVerified: true) {
        let checksum = stead_crc32c_record(seed, payload.baseAddress!, UInt32(payload.count))
        let place = offset - range.lowerBound + 4
        withUnsafeBytes(of: checksum.littleEndian) { bytes in
          copy.replaceSubrange(place..<(place + bytes.count), with: bytes)
        }
        offset = JournalLog.end(ofPayloadAt: offset, payload)
      }
      return copy
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The CRC-32C of the bytes.
  var checksum: UInt32 {
    guard let baseAddress else { return 0 }
    return stead_crc32c(0, baseAddress, count)
  }
}
