import Foundation
import SteadTestSupport
import Testing

@testable import SteadFiles

/// Which earlier files a file contains, and when its records were written first.
struct JournalLineageTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("a.journal") }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  /// A restoration that had nothing to write once labelled the next record, which somebody else had set since, as one that
  /// restores.
  @Test(arguments: [false, true])
  func `a restoration is noted with its record or not at all`(hasRecord: Bool) throws {
    let log = try LineLog(url)
    try log.append("1")
    let lost = Journal.Place(salt: 17, offset: 5_000)
    let start = log.journal.recordOffset
    try log.journal.write(catchingUp: { _ in }) { writer in
      try writer.restore(lost) {
        guard hasRecord else { return }
        try writer.append(byteCount: 1) { $0[0] = 65 }
      }
    }
    try log.append("2")
    let entries = JournalLineage(log.journal.file).entries
    #expect(entries == (hasRecord ? [.init(lost: lost, record: start)] : []))
  }

  /// After a compaction a file once counted as containing records that had been copied behind its checkpoint, and cut off
  /// since.
  @Test func `a file contains an earlier one as long as it has the copied records`() throws {
    var list = JournalLineage()
    let lost = Journal.Place(salt: 17, offset: 5_000)
    list.add(.init(lost: lost, record: JournalLineage.extent(4_200)))
    #expect(list.prefix(endingAt: 4_200, restoredEnd: 0).containedTail(of: 17) == 5_000)
    #expect(list.prefix(endingAt: 4_192, restoredEnd: 0).containedTail(of: 17) == nil)
    // What a program has restored from memory is known to that program alone.
    list.add(.init(lost: Journal.Place(salt: 18, offset: 6_000), record: 4_208))
    #expect(list.containedTail(of: 18) == nil)
    var heir = JournalLineage()
    heir.inherit(list, extent: JournalLineage.extent(4_100))
    #expect(heir.entries == [.init(lost: lost, record: 4_101)])
  }

  @Test func `records keep their origins when they are copied again and again`() throws {
    var first = JournalOrigins()
    first.add(.init(end: 4_200, generation: 1, shift: 0))
    var second = JournalOrigins()
    // The records from 4,160 to 4,300, of which those behind 4,200 are the first file's own.
    second.add(recordsOf: first, in: 4_160..<4_300, at: 8_160)
    #expect(
      second.spans == [
        .init(end: 8_200, generation: 1, shift: 4_000),
        .init(end: 8_300, generation: 0, shift: 4_000),
      ])
    var third = JournalOrigins()
    third.add(recordsOf: second, in: 8_180..<8_300, at: 4_096)
    #expect(
      third.spans.map(\.shift) == [4_000 &- 4_084, 4_000 &- 4_084].map { UInt64(bitPattern: $0) })
    #expect(third.spans.map(\.end) == [4_116, 4_216])
  }
}

/// The generation in a file's header page, which no checksum covers.
struct JournalGenerationTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("a.journal") }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  /// Of the greatest number the next one was 0. All files after that counted as older than all before.
  @Test(
    arguments: [UInt64.max, UInt64.max - 1, UInt64(1) << 63, UInt64(1) << 53] as [UInt64],
    [false, true])
  func `a damaged generation is replaced by the next one`(damaged: UInt64, isOpen: Bool) throws {
    var log = try LineLog(url)
    try log.append("1")
    let before = log.journal.nextStamp
    log.journal.file.setWord(damaged, at: JournalLayout.generation)
    #expect(log.journal.nextStamp.generation < Journal.generationLimit)
    if !isOpen { log = try LineLog(url) } else { try log.compact() }
    for number in 0..<3 {
      let stamp = log.journal.nextStamp
      #expect(stamp.generation > before.generation)
      #expect(stamp.generation < Journal.generationLimit)
      #expect(log.journal.file.word(at: JournalLayout.generation) == stamp.generation)
      try log.append("\(number)")
      #expect(log.journal.stamp(ofRecordAt: stamp.offset) == stamp)
      try log.compact()
      #expect(log.journal.nextStamp.generation > stamp.generation)
    }
    #expect(try LineLog(url).lines == ["1", "0", "1", "2"])
  }
}
