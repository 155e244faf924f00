import Foundation
import SteadTestSupport
import Testing

@testable import SteadFiles

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
