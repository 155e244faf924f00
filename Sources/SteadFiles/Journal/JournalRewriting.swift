import CSteadFiles
import Foundation

/// Replaces the contents of a journal's file that cannot lose its name to another one: a mount point of its own, as containers
/// mount single files.
///
/// The new contents, the image, are first written and synced behind the old ones, in the same file: others that have the file
/// mounted elsewhere have no other place in common. Then the header page says where they are, and they are copied to the
/// beginning. A process that is killed leaves the old contents, or an image that whoever next gets the lock copies once more.
///
/// This is a redo log of one entry: the image is durable before the header page refers to it, and the reference is durable before
/// the first byte of the old contents is overwritten. Copying it twice does no harm, as the image is not changed by it: it lies
/// behind both the old contents and the copy.
///
/// Everything requires the file's lock. It costs four syncs.
struct JournalRewriting {
  let descriptor: Int32
  let path: String
  let disk: any Disk

  /// The words that belong to the file and its users, not to its contents, and are not overwritten by the image's.
  private static let kept = [
    JournalLayout.listeners, JournalLayout.notice, JournalLayout.keptLock, JournalLayout.image,
    JournalLayout.imageByteCount, JournalLayout.imageChecksum,
  ]

  /// Replaces the contents by those of a draft.
  ///
  /// If it throws before the reference to the image is written, nothing has changed. If it throws later, the image stays, and
  /// whoever gets the lock next completes the copy.
  func replace(with draft: JournalDraft) throws {
    let image = try image(of: draft)
    let old = try disk.status(descriptor, path: path).size
    // Neither the old contents nor the copy reach there.
    let start = JournalLayout.pages(max(Int(old), image.count))
    try check(stead_file_extend(descriptor, old, Int64(start + image.count)), "extend the file")
    do {
      try write(image, at: start)
      try disk.syncContents(descriptor, path: path)
      // Readers that have no lock check this flag and the salt after they have read.
      let tail = try word(at: JournalLayout.tail)
      try set(tail | JournalLayout.compacting, at: JournalLayout.tail)
    } catch {
      // Nothing refers to the image yet. If this fails, too, its bytes are room for later records.
      _ = ftruncate(descriptor, off_t(old))
      throw error
    }
    try set(UInt64(image.count), at: JournalLayout.imageByteCount)
    try set(UInt64(image.withUnsafeBytes { $0.checksum }), at: JournalLayout.imageChecksum)
    // The place comes last: while it is 0 there is no image, whatever the other two words say.
    try set(UInt64(start), at: JournalLayout.image)
    // Durable before the copy begins: after a power loss, a part of the copy must not be found without the image.
    try disk.syncContents(descriptor, path: path)
    try finish()
  }

  /// Copies an image to the beginning of its file, and returns whether there was one. May be repeated after a kill.
  ///
  /// The flag in the tail is set all the time and cleared last, after the salt has become another one. So a reader that has no lock
  /// finds the flag or another salt afterwards, and reads again.
  @discardableResult
  func finish() throws -> Bool {
    let reference = try imageReference
    guard reference.isPresent else { return false }
    guard let image = try read(reference) else {
      // The reference is damaged, or these are not a journal's bytes. It is no half-written image: that is durable before
      // the reference is written.
      let page = try read(from: 0, count: JournalLayout.headerByteCount)
      if case .header = page.withUnsafeBytes({ JournalHeader.read($0) }) {
        try set(0, at: JournalLayout.image)
      }
      return false
    }
    try write(image.dropFirst(JournalLayout.headerByteCount), at: JournalLayout.headerByteCount)
    // Whole words, from the lowest offset on: the salt, at offset 16, changes before the words that ``Journal/Opened``
    // copies, as its `isConsistent` requires.
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
    // The image is not needed any more. If truncating fails, it is room that a later compaction frees.
    let size = JournalLayout.fileByteCount(now: 0, needed: image.count)
    if try disk.status(descriptor, path: path).size > size {
      _ = ftruncate(descriptor, off_t(size))
    }
    try set(tail, at: JournalLayout.tail)
    return true
  }

  /// Where the header page says that an image is.
  private var imageReference: JournalImageReference {
    get throws {
      let words = try read(from: JournalLayout.image, count: JournalImageReference.byteCount)
      return words.withUnsafeBytes { JournalImageReference($0) }
    }
  }

  /// The image; nil unless its checksum is right. Nothing else is read: the file may be large, and not a journal.
  private func read(_ reference: JournalImageReference) throws -> Data? {
    let size = Int(try disk.status(descriptor, path: path).size)
    guard let range = reference.range(in: size) else { return nil }
    let image = try read(from: range.lowerBound, count: range.count)
    return reference.isWhole(image) ? image : nil
  }

  /// A draft's bytes, as the file will have them.
  private func image(of draft: JournalDraft) throws -> Data {
    var image = try Self.read(
      draft.temporary.descriptor, from: 0, count: draft.tail + JournalLayout.endByteCount,
      path: path)
    guard image.count == draft.tail + JournalLayout.endByteCount else {
      throw FileError.overwritten(path)
    }
    // A draft has no number yet (``Journal/recordIdentity(of:tail:)``). With 0 the file would count as a copy.
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
  /// Gives an open, locked file that is a mount point a draft's contents, and ends the draft unless it throws.
  func rewrite(_ file: MappedFile, with draft: JournalDraft) throws -> MappedFile {
    try JournalRewriting(descriptor: file.descriptor, path: path, disk: disk).replace(with: draft)
    var file = file
    try file.resizeMapping(on: disk, path: path)
    // Last: whoever catches an error ends the draft, and its descriptor may be another file's by then.
    draft.temporary.finish()
    return file
  }

  /// Continues with the open file's new contents, all of which the owner has received. Requires the lock.
  func switchToRewritten(_ file: MappedFile, _ draft: JournalDraft) {
    self.file = file
    (header, verifiedEnd, substitute) = (draft.header, draft.tail, nil)
    (seed, position, populatedEnd) = (draft.header.seed, UInt64(draft.tail), 0)
    salt = file.word(at: JournalLayout.salt)
    generation = max(generation, Self.validGeneration(file.word(at: JournalLayout.generation)))
    lineageIdentity = JournalLineage.identity(of: file, header)
    lineage.inherit(JournalLineage(file))
    origins = JournalOrigins(file)
    (isKnownOverwritten, lastRecord, previousPosition) = (false, 0, nil)
    writesUntilRevalidation = Self.writesPerLook
    _ = stead_file_touch(file.descriptor)
  }
}

// MARK: - The image

/// The three words of the header page that refer to an image: where it begins, its length and its checksum.
struct JournalImageReference: Hashable {
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

  /// Whether the words refer to an image; whether that is whole is another question.
  var isPresent: Bool { start != 0 }

  /// Writes the words into the header page of a copy in memory.
  func store(in copy: MappedFile) {
    copy.setWord(start, at: JournalLayout.image)
    copy.setWord(imageByteCount, at: JournalLayout.imageByteCount)
    copy.setWord(checksum, at: JournalLayout.imageChecksum)
  }

  /// The bytes of the image in a file of a length; nil if it can't be there.
  func range(in fileByteCount: Int) -> Range<Int>? {
    guard isPresent, let start = Int(exactly: start), let count = Int(exactly: imageByteCount),
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
  /// Whether the open file refers to an image: a process is replacing the contents, or was killed while it did.
  var hasImage: Bool { !file.isBlank && !file.isInherited && hasImage(file) }

  func hasImage(_ file: MappedFile) -> Bool { JournalImageReference(in: file).isPresent }

  /// Whether a file refers to an image that is whole. Costs reading the image.
  func hasWholeImage(_ file: MappedFile) -> Bool {
    JournalImageReference(in: file).image(in: file.bytes) != nil
  }

  /// A copy in memory of a file's image, for an owner that may only read, and can't complete the rewriting.
  ///
  /// The flag stays in the tail of the copy, so that each reading compares the reference, which the copy keeps, with the file's
  /// (``isCopyCurrent()``).
  func image(in file: MappedFile) -> Opened? {
    let reference = JournalImageReference(in: file)
    guard let image = reference.image(in: file.bytes),
      case .header(let header, _) = image.withUnsafeBytes({ JournalHeader.read($0) })
    else { return nil }
    let copy = MappedFile(blank: image.count, for: file.identity)
    image.withUnsafeBytes { copy.base.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    copy.setWord(
      copy.word(at: JournalLayout.tail) | JournalLayout.compacting, at: JournalLayout.tail)
    reference.store(in: copy)
    guard copy.hasCheckpoint(header) else {
      copy.close(on: disk)
      return nil
    }
    return Opened(file: copy, header: header)
  }

  /// Whether the placeholder or copy in memory still stands for the file at the path. Costs reading three words there.
  func isCopyCurrent() throws -> Bool {
    guard try isPathCurrent() else { return false }
    let reference = JournalImageReference(in: file)
    guard reference.isPresent else { return true }
    return try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK) { descriptor in
      var words = [UInt64](repeating: 0, count: JournalImageReference.byteCount / 8)
      let count = pread(
        descriptor, &words, JournalImageReference.byteCount, off_t(JournalLayout.image))
      return words.withUnsafeBytes {
        // A read that failed or came too short has no reference, and so differs.
        JournalImageReference(.init(rebasing: $0.prefix(max(count, 0)))) == reference
      }
    }
  }
}
