import Foundation

extension Journal {
  /// When a record was written, as compared with the records of all files that were the journal's: a hybrid of a logical
  /// and a physical clock.
  ///
  /// Every file has a greater generation than those that its maker knew, and it isn't less than the time in microseconds. So
  /// records of two files are compared correctly even if neither file's writers knew the other, unless the clock was set back.
  @usableFromInline
  package struct Stamp: Sendable, Hashable, Comparable {
    /// The generation of the file into which the record was written first.
    @usableFromInline package var generation: UInt64
    /// Where the record begins in that file.
    @usableFromInline package var offset: UInt64

    @inlinable
    package init(generation: UInt64, offset: UInt64) {
      (self.generation, self.offset) = (generation, offset)
    }

    /// Before every record.
    package static let none = Stamp(generation: 0, offset: 0)

    @usableFromInline package static func < (left: Stamp, right: Stamp) -> Bool {
      (left.generation, left.offset) < (right.generation, right.offset)
    }
  }

  /// The stamp of the next record, if this process appends it.
  ///
  /// Another program may overwrite the file at any moment, with zeros or an older copy. So the greatest generation that
  /// was ever seen counts.
  @inlinable @inline(__always)
  package var nextStamp: Stamp {
    let own = Self.validGeneration(file.word(at: JournalLayout.generation))
    return Stamp(generation: max(own, generation), offset: position)
  }

  /// The stamp of a record that was read, by the place where it begins.
  package func stamp(ofRecordAt offset: UInt64) -> Stamp {
    let stamp = JournalOrigins.stamp(ofRecordAt: offset, in: file)
    // Checked after the reading, as by a seqlock: if the file has other contents by now, those have other origins, and a stamp of
    // theirs would make the record newer than what was set since.
    if file.word(at: JournalLayout.salt) == salt {
      return stamp ?? Stamp(generation: nextStamp.generation, offset: offset)
    }
    return origins.stamp(ofRecordAt: offset) ?? Stamp(generation: generation, offset: offset)
  }

  /// Later than all records that the checkpoint may contain, and not later than any record behind it.
  ///
  /// As of the opening: the file may have other contents by now.
  package var checkpointStamp: Stamp {
    Stamp(generation: origins.spans.first?.generation ?? origins.generation, offset: 0)
  }

  /// The generation for a file that replaces another one, or is written by this process although it is a copy.
  func nextGeneration(after old: UInt64 = 0) -> UInt64 {
    // Microseconds, since two files can't be made within one.
    let now = UInt64(max(0, Date().timeIntervalSince1970) * 1_000_000)
    return max(max(generation, Self.validGeneration(old)) + 1, now)
  }

  /// A greater generation is damage: it counts microseconds, and this is in the year 2255.
  @usableFromInline static let generationLimit: UInt64 = 1 << 53

  /// A generation as it was read from a file; 0 if it is damaged.
  ///
  /// No checksum covers it. With a damaged one all later files would count as older, and the greatest number has none
  /// behind it.
  @inlinable @inline(__always)
  static func validGeneration(_ generation: UInt64) -> UInt64 {
    generation < generationLimit ? generation : 0
  }

  /// Gives the records that will be appended to a file a greater generation than those that this process has seen.
  /// Requires the lock.
  func raiseGeneration(of file: MappedFile, tail: Int) {
    let old = Self.validGeneration(file.word(at: JournalLayout.generation))
    var origins = JournalOrigins(file)
    origins.add(JournalOrigins.Span(end: UInt64(tail), generation: old, shift: 0))
    // Before the generation: the records so far must not get the new one.
    origins.store(in: file)
    generation = nextGeneration(after: old)
    file.setWord(generation, at: JournalLayout.generation)
  }
}

// MARK: - Origins of copied records

/// The list, in the header page, of spans of records that were copied from an earlier file, and of where they were there.
///
/// A repair or a compaction copies records into a new file, at other offsets and under a greater generation. Each record keeps the
/// stamp that it had when it was written, or a copied record would seem newer than one that was written in between.
struct JournalOrigins {
  /// Records that come from one file.
  struct Span: Equatable {
    /// The span has the records that begin before this offset, and not in the span before.
    var end: UInt64
    /// The generation of the file into which they were written.
    var generation: UInt64
    /// The offset of a record here minus its offset in the file into which it was written.
    var shift: UInt64
  }

  /// The maximum number of spans; after that the two oldest become one.
  static let limit = 32
  private static let spanByteCount = 24

  private(set) var spans: [Span] = []
  /// The generation of the records behind all spans.
  private(set) var generation: UInt64 = 0

  init() {}

  init(_ file: MappedFile) {
    guard file.byteCount >= JournalLayout.headerByteCount else { return }
    generation = Journal.validGeneration(file.word(at: JournalLayout.generation))
    for index in 0..<Self.limit {
      let start = JournalLayout.origins + index * Self.spanByteCount
      let end = file.word(at: start)
      guard end != 0 else { return }
      spans.append(
        Span(end: end, generation: file.word(at: start + 8), shift: file.word(at: start + 16)))
    }
  }

  /// The stamp of a record; nil for one behind all spans of a file that an older version has made.
  ///
  /// It makes no list, since it is called for each record that is read.
  static func stamp(ofRecordAt offset: UInt64, in file: MappedFile) -> Journal.Stamp? {
    guard file.byteCount >= JournalLayout.headerByteCount else { return nil }
    for index in 0..<limit {
      let start = JournalLayout.origins + index * spanByteCount
      let end = file.word(at: start)
      if end == 0 { break }
      guard offset < end else { continue }
      return Journal.Stamp(
        generation: file.word(at: start + 8), offset: offset &- file.word(at: start + 16))
    }
    let generation = Journal.validGeneration(file.word(at: JournalLayout.generation))
    return generation == 0 ? nil : Journal.Stamp(generation: generation, offset: offset)
  }

  /// The stamp of a record; nil for one behind all spans of a file that an older version has made.
  func stamp(ofRecordAt offset: UInt64) -> Journal.Stamp? {
    if let span = spans.first(where: { offset < $0.end }) {
      return Journal.Stamp(generation: span.generation, offset: offset &- span.shift)
    }
    return generation == 0 ? nil : Journal.Stamp(generation: generation, offset: offset)
  }

  /// Adds a span behind the existing ones.
  mutating func add(_ span: Span) {
    guard span.end > spans.last?.end ?? 0 else { return }
    if let last = spans.last, last.generation == span.generation, last.shift == span.shift {
      spans[spans.count - 1].end = span.end
    } else {
      spans.append(span)
    }
    // The records of the span that goes count as those of the next, and so as newer than they are. A recovery may then prefer
    // them to records of another file that were written in between.
    if spans.count > Self.limit { spans.removeFirst() }
  }

  /// Adds spans for the records of another file that follow the existing ones.
  mutating func add(recordsOf other: JournalOrigins, in range: Range<Int>, at start: Int) {
    // Two's complement: records may move toward the beginning, and the wrapping additions below then subtract.
    let moved = UInt64(bitPattern: Int64(start - range.lowerBound))
    let rest = Span(end: UInt64(range.upperBound), generation: other.generation, shift: 0)
    for span in other.spans + [rest] where span.end > range.lowerBound {
      let end = min(span.end, UInt64(range.upperBound)) &+ moved
      add(Span(end: end, generation: span.generation, shift: span.shift &+ moved))
    }
  }

  /// Writes the list into a file. Requires the lock.
  func store(in file: MappedFile) {
    for (index, span) in spans.enumerated() {
      let start = JournalLayout.origins + index * Self.spanByteCount
      // The end comes last: a reader without the lock takes an entry without one for the end of the list.
      file.setWord(span.generation, at: start + 8)
      file.setWord(span.shift, at: start + 16)
      file.setWord(span.end, at: start)
    }
  }

  /// The list as a file has it.
  var bytes: Data {
    let words = spans.flatMap { [$0.end, $0.generation, $0.shift] }
    return words.map(\.littleEndian).withUnsafeBytes { Data($0) }
  }
}
