import CSteadFiles
import Foundation

/// The records of a mapped journal file.
struct JournalLog {
  let bytes: UnsafeRawBufferPointer
  let seed: UInt32

  /// The payload of a complete record that begins at an offset and ends at or before `limit`.
  ///
  /// Another program can overwrite the file at any moment, so what was verified here may be something else when it
  /// is read; see ``copy(at:limit:into:)``.
  func payload(at offset: Int, limit: Int) -> UnsafeRawBufferPointer? {
    guard let (payload, checksum) = frame(at: offset, limit: limit),
      stead_crc32c_record(seed, payload.baseAddress!, UInt32(payload.count)) == checksum
    else { return nil }
    return payload
  }

  /// Copies the payload of a complete record, and verifies the copy, which nobody else can change.
  ///
  /// - Returns: The copy, and the word of length and checksum that the record begins with.
  func copy(
    at offset: Int, limit: Int, into space: inout JournalSpace
  ) -> (payload: UnsafeRawBufferPointer, word: UInt64)? {
    guard let (payload, checksum) = frame(at: offset, limit: limit) else { return nil }
    let copy = space.copy(payload)
    guard stead_crc32c_record(seed, copy.baseAddress!, UInt32(copy.count)) == checksum else {
      return nil
    }
    return (copy, UInt64(checksum) << 32 | UInt64(copy.count))
  }

  /// A record's payload and checksum, which is not verified.
  private func frame(
    at offset: Int, limit: Int
  ) -> (payload: UnsafeRawBufferPointer, checksum: UInt32)? {
    let start = offset + JournalLayout.recordHeaderByteCount
    guard offset >= 0, start <= limit, limit <= bytes.count, let base = bytes.baseAddress else {
      return nil
    }
    let header = stead_load_acquire(base + offset)
    let count = Int(UInt32(truncatingIfNeeded: header))
    guard count > 0, count <= Journal.recordLimit,
      JournalLayout.roundedUp(count) <= limit - start
    else { return nil }
    let payload = base + start
    return (
      UnsafeRawBufferPointer(start: payload, count: count), UInt32(truncatingIfNeeded: header >> 32)
    )
  }

  /// Where the record after the one with this payload begins.
  static func end(ofPayloadAt offset: Int, _ payload: UnsafeRawBufferPointer) -> Int {
    offset + JournalLayout.recordHeaderByteCount + JournalLayout.roundedUp(payload.count)
  }

  /// Where the run of complete records that begins at an offset ends.
  func end(from offset: Int) -> Int {
    var offset = offset
    while let payload = payload(at: offset, limit: bytes.count) {
      offset = Self.end(ofPayloadAt: offset, payload)
    }
    return offset
  }
}
