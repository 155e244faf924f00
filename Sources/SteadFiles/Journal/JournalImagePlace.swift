import CSteadFiles
import Foundation

/// Where a journal's header page says that an image is: the contents that are to replace the file's own.
struct JournalImagePlace: Hashable {
  /// The length of the words in the page.
  static let byteCount = 24

  private var start: UInt64 = 0
  private var imageByteCount: UInt64 = 0
  private var checksum: UInt64 = 0

  /// Reads the words, which name no image if they are incomplete.
  init(_ words: UnsafeRawBufferPointer) {
    guard words.count >= Self.byteCount else { return }
    func word(_ offset: Int) -> UInt64 {
      UInt64(littleEndian: words.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    (start, imageByteCount, checksum) = (word(0), word(8), word(16))
  }

  init(in file: MappedFile) {
    guard file.byteCount >= JournalLayout.headerByteCount else { return }
    start = file.word(at: JournalLayout.image)
    imageByteCount = file.word(at: JournalLayout.imageByteCount)
    checksum = file.word(at: JournalLayout.imageChecksum)
  }

  /// Whether there is to be one.
  var isNamed: Bool { start != 0 }

  /// Notes the place in the header page of a copy in memory.
  func note(in copy: MappedFile) {
    copy.setWord(start, at: JournalLayout.image)
    copy.setWord(imageByteCount, at: JournalLayout.imageByteCount)
    copy.setWord(checksum, at: JournalLayout.imageChecksum)
  }

  /// The bytes of the image in a file of a length; nil if it can't be there.
  func range(in fileByteCount: Int) -> Range<Int>? {
    guard isNamed, let start = Int(exactly: start), let count = Int(exactly: imageByteCount),
      count >= JournalLayout.headerByteCount, count <= start, count <= fileByteCount,
      start <= fileByteCount - count
    else { return nil }
    return start..<(start + count)
  }

  /// Whether bytes are those of the image.
  func isWhole(_ image: Data) -> Bool {
    UInt64(image.withUnsafeBytes { $0.checksum }) == checksum
  }

  /// A copy of the image in a file; nil unless it is whole.
  func image(in bytes: UnsafeRawBufferPointer) -> Data? {
    guard let range = range(in: bytes.count) else { return nil }
    let image = Data(bytes[range])
    return isWhole(image) ? image : nil
  }
}

extension Journal {
  /// Whether a process that was killed, or is at work, has left contents in the open file that are to replace its own.
  var hasImage: Bool { !file.isBlank && !file.isInherited && hasImage(file) }

  func hasImage(_ file: MappedFile) -> Bool { JournalImagePlace(in: file).isNamed }

  /// Whether the contents that are to replace an open file's own are there as a whole. Costs reading them.
  func hasWholeImage(_ file: MappedFile) -> Bool {
    JournalImagePlace(in: file).image(in: file.bytes) != nil
  }

  /// The contents that will replace an open file's own, for who may only read.
  ///
  /// Bit 62 stays in the tail, so that the next look compares the place, which the copy keeps, with the file's.
  func image(in file: MappedFile) -> Opened? {
    let place = JournalImagePlace(in: file)
    guard let image = place.image(in: file.bytes),
      case .header(let header, _) = image.withUnsafeBytes({ JournalHeader.read($0) })
    else { return nil }
    let copy = MappedFile(blank: image.count, for: file.identity)
    image.withUnsafeBytes { copy.base.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    copy.setWord(
      copy.word(at: JournalLayout.tail) | JournalLayout.compacting, at: JournalLayout.tail)
    place.note(in: copy)
    guard copy.hasCheckpoint(header) else {
      copy.close(on: disk)
      return nil
    }
    return Opened(file: copy, header: header)
  }

  /// Whether the open file is a copy in memory of what the file has that has the name. Costs reading three words there.
  func isCopyCurrent() throws -> Bool {
    guard try pathLeadsHere() else { return false }
    let place = JournalImagePlace(in: file)
    guard place.isNamed else { return true }
    return try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK) { descriptor in
      var words = [UInt64](repeating: 0, count: JournalImagePlace.byteCount / 8)
      let count = pread(
        descriptor, &words, JournalImagePlace.byteCount, off_t(JournalLayout.image))
      return words.withUnsafeBytes {
        JournalImagePlace(.init(rebasing: $0.prefix(max(count, 0)))) == place
      }
    }
  }
}
