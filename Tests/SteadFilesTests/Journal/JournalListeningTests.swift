#if os(Linux)
  import Foundation
  import Testing

  @testable import SteadFiles

  /// Writers wake those who listen, and do nothing for those who do not.
  @Suite struct JournalListeningTests {
    let directory: TemporaryDirectory
    let url: URL
    let listener: LineLog
    let writer: LineLog
    let events: DirectoryEvents

    init() throws {
      directory = try TemporaryDirectory()
      url = directory.file("a.journal")
      listener = try LineLog(url)
      writer = try LineLog(url)
      events = DirectoryEvents(directory.url)
    }

    @Test func `nobody listens and nothing happens`() throws {
      try writer.append("one")
      #expect(events.take() == [])
      try listener.journal.listen()
      listener.journal.stopListening()
      try writer.append("two")
      #expect(events.take() == [])
    }

    @Test func `a listener is woken once until it is awake`() throws {
      try listener.journal.listen()
      try listener.journal.listen()
      try writer.append("one")
      #expect(events.take() == ["a.journal"])
      try writer.append("two")
      #expect(events.take() == [], "it has not looked yet")
      listener.journal.clearNotice()
      try listener.refresh()
      #expect(events.take() == [])
      try writer.append("three")
      #expect(events.take() == ["a.journal"])
    }

    @Test func `awoken listeners who only read wake nobody`() throws {
      try listener.journal.listen()
      listener.journal.clearNotice()
      try listener.journal.write(catchingUp: { _ in }) { _ in }
      #expect(events.take() == [])
    }

    @Test func `a listener is known in the file that took the old one's place`() throws {
      try listener.journal.listen()
      try writer.compact()
      #expect(!events.take().isEmpty)
      listener.journal.clearNotice()
      try listener.refresh()
      try writer.append("one")
      #expect(events.take() == ["a.journal"])
      listener.journal.clearNotice()
      try listener.compact()
      #expect(!events.take().isEmpty)
      try writer.append("two")
      #expect(events.take() == ["a.journal"])
    }

    @Test func `a notice that nobody cleared does not silence others for ever`() throws {
      try listener.journal.listen()
      // As a writer leaves it that was killed when it had set the notice, long ago.
      let descriptor = Foundation.open(url.filePath, O_RDWR)
      defer { close(descriptor) }
      var longAgo: UInt64 = 1
      try #require(pwrite(descriptor, &longAgo, 8, 1280) == 8)
      try writer.append("one")
      #expect(events.take() == ["a.journal"])
    }
  }
#endif
