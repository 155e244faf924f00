import CSteadFiles
import Foundation

/// The records of a mapped journal file.
struct JournalLog {
  let bytes: UnsafeRawBufferPointer
  let seed: UInt32

  /// The payload of a complete record that begins at an offset and ends at or before `limit`.
  ///
  /// - Parameter isVerified: Whether the record is known to be good, and its checksum need not be computed.
  func payload(at offset: Int, limit: Int, isVerified: Bool = false) -> UnsafeRawBufferPointer? {
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
    if !isVerified, stead_crc32c_record(seed, payload, UInt32(count)) != UInt32(header >> 32) {
      return nil
    }
    return UnsafeRawBufferPointer(start: payload, count: count)
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
