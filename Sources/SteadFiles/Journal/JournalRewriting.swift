import CSteadFiles
import Foundation

/// Replaces the contents of a journal's file that cannot lose its name to another one: a mount point of its own, as containers
/// mount single files.
///
/// The new contents, the image, are first written and synced behind the old ones, in the same file: others that have the file
/// mounted elsewhere have no other place in common. Then the header page says where they are, and they are copied to the
/// beginning. A process that is killed leaves the old contents, or an image that whoever next gets the lock copies once more.
///
/// Everything requires the file's lock. It costs four syncs.
struct JournalRewriting {
  let descriptor: Int32
  let path: String
  let disk: any Disk

  /// The words that a file's users change or that say what became of it, not its contents.
  private static let kept = [
    JournalLayout.listeners, JournalLayout.notice, JournalLayout.keptLock, JournalLayout.image,
    JournalLayout.imageByteCount, JournalLayout.imageChecksum,
  ]

  /// Replaces the contents by those of a draft. If it throws before they are announced, nothing has changed.
  func replace(with draft: JournalDraft) throws {
    let image = try image(of: draft)
    let old = try disk.status(descriptor, path: path).size
    // Neither the old contents nor the copy reach there.
    let start = JournalLayout.pages(max(Int(old), image.count))
    try check(stead_file_extend(descriptor, old, Int64(start + image.count)), "extend the file")
    do {
      try write(image, at: start)
      try disk.syncContents(descriptor, path: path)
      // Otherwise somebody may read without the lock, or append, in the middle of the copy.
      let tail = try word(at: JournalLayout.tail)
      try set(tail | JournalLayout.compacting, at: JournalLayout.tail)
    } catch {
      _ = ftruncate(descriptor, off_t(old))
      throw error
    }
    try set(UInt64(image.count), at: JournalLayout.imageByteCount)
    try set(UInt64(image.withUnsafeBytes { $0.checksum }), at: JournalLayout.imageChecksum)
    try set(UInt64(start), at: JournalLayout.image)
    // Whoever finds a part of the copy after a power loss has to find the image, too.
    try disk.syncContents(descriptor, path: path)
    try finish()
  }

  /// Copies an image to the beginning of its file, and returns whether there was one.
  @discardableResult
  func finish() throws -> Bool {
    let place = try imagePlace
    guard place.isNamed else { return false }
    guard let image = try read(place) else {
      // The word is damaged, or is a stranger's: nothing is copied before the image is durable.
      let page = try read(from: 0, count: JournalLayout.headerByteCount)
      if case .header = page.withUnsafeBytes({ JournalHeader.read($0) }) {
        try set(0, at: JournalLayout.image)
      }
      return false
    }
    try write(image.dropFirst(JournalLayout.headerByteCount), at: JournalLayout.headerByteCount)
    for offset in stride(from: 0, to: JournalLayout.headerByteCount, by: 8)
    where !Self.kept.contains(offset) && offset != JournalLayout.tail {
      try write(image[offset..<(offset + 8)], at: offset)
    }
    let tail = image.word(at: JournalLayout.tail)
    try set(tail | JournalLayout.compacting, at: JournalLayout.tail)
    try disk.syncContents(descriptor, path: path)
    try set(0, at: JournalLayout.image)
    // Otherwise a power loss could bring the image back, after more has been appended.
    try disk.syncContents(descriptor, path: path)
    let size = JournalLayout.fileByteCount(now: 0, needed: image.count)
    if try disk.status(descriptor, path: path).size > size {
      _ = ftruncate(descriptor, off_t(size))
    }
    try set(tail, at: JournalLayout.tail)
    return true
  }

  /// Where the header page says that an image is.
  private var imagePlace: JournalImagePlace {
    get throws {
      let words = try read(from: JournalLayout.image, count: JournalImagePlace.byteCount)
      return words.withUnsafeBytes { JournalImagePlace($0) }
    }
  }

  /// The image; nil unless it is whole. Nothing else is read: the place may be a stranger's bytes, and the file large.
  private func read(_ place: JournalImagePlace) throws -> Data? {
    let size = Int(try disk.status(descriptor, path: path).size)
    guard let range = place.range(in: size) else { return nil }
    let image = try read(from: range.lowerBound, count: range.count)
    return place.isWhole(image) ? image : nil
  }

  /// A draft's bytes, as the file will have them.
  private func image(of draft: JournalDraft) throws -> Data {
    var image = try Self.read(
      draft.temporary.descriptor, from: 0, count: draft.tail + JournalLayout.endByteCount,
      path: path)
    guard image.count == draft.tail + JournalLayout.endByteCount else {
      throw FileError.overwritten(path)
    }
    let home = try disk.status(descriptor, path: path).identity.word
    for (word, offset) in [
      (home, JournalLayout.home), (UInt64(draft.tail), JournalLayout.homeTail),
      (UInt64(draft.tail), JournalLayout.tail),
    ] {
      withUnsafeBytes(of: word.littleEndian) {
        image.replaceSubrange(offset..<(offset + 8), with: $0)
      }
    }
    return image
  }

  // MARK: Bytes of the file

  private func check(_ error: Int32, _ action: String) throws {
    guard error == 0 else { throw FileError(errno: error, doing: action, path: path) }
  }

  private func write(_ bytes: Data, at offset: Int) throws {
    try bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      try check(
        stead_file_write(descriptor, start, bytes.count, Int64(offset)), "write to the file")
    }
  }

  private func set(_ word: UInt64, at offset: Int) throws {
    try write(withUnsafeBytes(of: word.littleEndian) { Data($0) }, at: offset)
  }

  private func word(at offset: Int) throws -> UInt64 {
    let bytes = try read(from: offset, count: 8)
    guard bytes.count == 8 else { throw FileError.overwritten(path) }
    return bytes.word(at: 0)
  }

  private func read(from offset: Int, count: Int) throws -> Data {
    try Self.read(descriptor, from: offset, count: count, path: path)
  }

  /// Reads as many bytes as there are.
  private static func read(
    _ descriptor: Int32, from offset: Int, count: Int, path: String
  ) throws -> Data {
    var data = Data(count: count)
    var done = 0
    try data.withUnsafeMutableBytes { bytes in
      while done < count {
        let result = pread(
          descriptor, bytes.baseAddress! + done, count - done, off_t(offset + done))
        if result < 0, errno == EINTR { continue }
        guard result >= 0 else { throw FileError(errno: errno, doing: "read the file", path: path) }
        guard result > 0 else { return }
        done += result
      }
    }
    return data.prefix(done)
  }
}

extension Data {
  /// The little-endian word at an offset.
  fileprivate func word(at offset: Int) -> UInt64 {
    withUnsafeBytes {
      UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }
}

extension Journal {
  /// Gives an open, locked file that cannot lose its name a draft's contents, and ends the draft unless it throws.
  func rewrite(_ file: MappedFile, with draft: JournalDraft) throws -> MappedFile {
    try JournalRewriting(descriptor: file.descriptor, path: path, disk: disk).replace(with: draft)
    var file = file
    try file.resizeMapping(on: disk, path: path)
    // Last: whoever catches an error ends the draft, and its descriptor may be another file's by then.
    draft.temporary.finish()
    return file
  }

  /// Takes the open file's new contents for what the owner has received. Requires the lock.
  func adoptRewritten(_ file: MappedFile, _ draft: JournalDraft) {
    self.file = file
    (header, verifiedEnd, substitute) = (draft.header, draft.tail, nil)
    (seed, position, roomEnd) = (draft.header.seed, UInt64(draft.tail), 0)
    salt = file.word(at: JournalLayout.salt)
    generation = max(generation, Self.credible(file.word(at: JournalLayout.generation)))
    lineageIdentity = JournalLineage.identity(of: file, header)
    lineage.inherit(JournalLineage(file))
    origins = JournalOrigins(file)
    (isDisturbed, lastRecord, heldPlace) = (false, 0, nil)
    writesUntilLook = Self.writesPerLook
    _ = stead_file_touch(file.descriptor)
  }
}

// MARK: - The image

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
