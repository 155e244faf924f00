import Foundation

/// Which records of a file were written into an earlier one, and where: the list in its header page.
///
/// Whoever makes a file copies records into it. A record keeps the stamp that it had when it was written.
struct JournalOrigins {
  /// Records that come from one file.
  struct Span: Equatable {
    /// The records that begin before this, and behind the span before.
    var end: UInt64
    /// The generation of the file into which they were written.
    var generation: UInt64
    /// How much farther behind they begin here than there.
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
    generation = Journal.credible(file.word(at: JournalLayout.generation))
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
    let generation = Journal.credible(file.word(at: JournalLayout.generation))
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
    if spans.count > Self.limit { spans.removeFirst() }
  }

  /// Adds spans for the records of another file that follow the existing ones.
  mutating func add(recordsOf other: JournalOrigins, in range: Range<Int>, at start: Int) {
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
