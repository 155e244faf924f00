import Foundation
import SteadRecords
import SteadSync
import SteadSyncProtocol
import SteadTestSupport
import SwiftData
import SyncTestSupport
import Testing

@Suite(.hangLimit) struct SyncEngineTests {
  let server = LocalSyncServer()

  private func settle(_ devices: Device...) async throws {
    for _ in 0..<2 { for device in devices { try await device.engine.syncNow() } }
  }

  @Test func `objects of every kind arrive`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    let folder = Folder("Home")
    let note = Note("Milk")
    note.text = "two litres\n\"cold\""
    note.count = 3
    note.rating = 0.25
    note.date = Date(timeIntervalSinceReferenceDate: 12_345.678)
    note.flags = ["a", "ä"]
    note.data = Data([0, 1, 255])
    note.folder = folder
    note.tags = [Tag("red"), Tag("blue")]
    one.context.insert(note)
    one.context.insert(Note("alone"))
    try one.context.save()
    try await settle(one, two)
    #expect(try two.content == one.content)
    #expect(try two.content.count == 5)
    #expect(one.engine.status.isUpToDate && two.engine.status.isUpToDate)
  }

  @Test func `edits, deletions and links arrive`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    let note = Note("Milk")
    note.folder = Folder("Home")
    note.tags = [Tag("red")]
    one.context.insert(note)
    try one.context.save()
    try await settle(one, two)
    let far = try #require(try two.note("Milk"))
    far.text = "far"
    far.tags.append(Tag("green"))
    far.tags.removeAll { $0.name == "red" }
    far.folder = Folder("Work")
    try two.context.save()
    note.count = 7
    try one.context.save()
    try await settle(two, one)
    #expect(try one.content == two.content)
    #expect(try one.note("Milk")?.text == "far")
    #expect(try one.note("Milk")?.count == 7)
    #expect(try one.note("Milk")?.tags.map(\.name) == ["green"])
    let work = try #require(try one.folder("Work"))
    one.context.delete(work)
    try one.context.save()
    try await settle(one, two)
    #expect(try one.content == two.content)
    #expect(try two.note("Milk") == nil, "the folder's notes go with it")
  }

  @Test func `two objects with a unique value become one`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    for (device, title) in [(one, "a"), (two, "b")] {
      let note = Note(title)
      note.folder = Folder("Home")
      device.context.insert(note)
      try device.context.save()
    }
    try await settle(one, two)
    #expect(try one.content == two.content)
    #expect(try one.content.first == "folder Home: [\"a\", \"b\"]")
  }

  @Test func `the later edit wins and the other is in the log`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    one.context.insert(Note("Milk"))
    try one.context.save()
    try await settle(one, two)
    try #require(try one.note("Milk")).text = "earlier"
    try one.context.save()
    await nextMillisecond()
    try #require(try two.note("Milk")).text = "later"
    try two.context.save()
    try await settle(two, one)
    #expect(try one.content == two.content)
    #expect(try one.note("Milk")?.text == "later")
    let conflicts = try await one.engine.conflicts()
    #expect(conflicts.map(\.field) == ["text"])
    #expect(conflicts.first?.mine?.string == "earlier")
    #expect(conflicts.first?.theirs?.string == "later")
    #expect(try await two.engine.conflicts().isEmpty)
  }

  @Test func `an overwritten edit can be brought back`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    one.context.insert(Note("Milk"))
    try one.context.save()
    try await settle(one, two)
    let note = try #require(try one.note("Milk"))
    note.text = "mine"
    note.photo = Data(repeating: 1, count: 50_000)
    try one.context.save()
    // The later edit needs a later time.
    await nextMillisecond()
    let far = try #require(try two.note("Milk"))
    far.text = "theirs"
    far.count = 7
    far.photo = Data(repeating: 2, count: 50_000)
    try two.context.save()
    try await settle(two, one)
    let conflicts = try await one.engine.conflicts()
    #expect(conflicts.map(\.field).sorted { $0 ?? "" < $1 ?? "" } == ["photo", "text"])
    let text = try #require(conflicts.first { $0.field == "text" })
    let photo = try #require(conflicts.first { $0.field == "photo" })
    #expect(try await one.engine.undo(text))
    #expect(try await !one.engine.undo(text), "it is forgotten")
    #expect(try await !one.engine.undo(photo), "its bytes are not here any more")
    #expect(try one.note("Milk")?.text == "mine")
    try await settle(one, two)
    #expect(try one.content == two.content)
    #expect(try two.note("Milk")?.text == "mine")
    #expect(try two.note("Milk")?.count == 7)
    #expect(try await one.engine.conflicts() == [photo])
  }

  @Test func `what is gone is not brought back`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    one.context.insert(Note("Milk"))
    try one.context.save()
    try await settle(one, two)
    two.context.delete(try #require(try two.note("Milk")))
    try two.context.save()
    try #require(try one.note("Milk")).text = "mine"
    try one.context.save()
    try await settle(two, one)
    let conflict = try #require(try await one.engine.conflicts().first)
    #expect(conflict.kind == .deleted)
    #expect(try await !one.engine.undo(conflict))
    #expect(try one.content.isEmpty)
  }

  @Test func `what is there before the first sync is sent`() async throws {
    let one = try Device(server)
    for number in 0..<1000 { one.context.insert(Note("\(number)")) }
    try one.context.save()
    let two = try Device(server)
    two.context.insert(Note("two"))
    try two.context.save()
    try await settle(one, two)
    try await settle(one)
    #expect(try one.content == two.content)
    #expect(try one.content.count == 1001)
  }

  @Test func `live engines exchange by themselves`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    await one.engine.start()
    await two.engine.start()
    one.context.insert(Note("Milk"))
    try one.context.save()
    while try two.content.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
    try #require(try two.note("Milk")).text = "back"
    try two.context.save()
    while try one.content != two.content { try await Task.sleep(for: .milliseconds(2)) }
    await one.engine.pause()
    await two.engine.pause()
  }

  /// A question to the engine takes what was saved into the outbox, maybe before the engine's own loop sees it.
  @Test func `what is saved is sent, also when the engine is asked in between`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    await one.engine.start()
    await two.engine.start()
    for number in 0..<100 {
      one.context.insert(Note("\(number)"))
      try one.context.save()
      #expect(try await one.engine.quarantine().isEmpty)
      // A poll for what is to come, not a wait for a time.
      while try two.note("\(number)") == nil { try await Task.sleep(for: .milliseconds(2)) }
    }
    await one.engine.pause()
    await two.engine.pause()
  }

  @Test func `large values travel apart`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
    let note = Note("photo")
    note.photo = bytes
    one.context.insert(note)
    try one.context.save()
    try await settle(one, two)
    #expect(try two.note("photo")?.photo == bytes)
    let records = await server.records(of: "0123456789abcdef0123456789abcdef")
    #expect(records.map(\.size).max() ?? 0 < 1_000, "the record only names it")
    // What came from elsewhere is known here: another field's edit fetches nothing.
    let count = await server.downloadCount
    try #require(try one.note("photo")).text = "text"
    try one.context.save()
    try await settle(one, two)
    #expect(try two.note("photo")?.text == "text")
    #expect(await server.downloadCount == count)
    #expect(two.engine.status.zones[Device.zone]?.unappliedCount == 0)
    try #require(try two.note("photo")).photo = Data(bytes.reversed())
    try two.context.save()
    try await settle(two, one)
    #expect(try one.note("photo")?.photo == Data(bytes.reversed()))
    try #require(try one.note("photo")).photo = nil
    try one.context.save()
    try await settle(one, two)
    #expect(try two.note("photo")?.photo == nil)
  }

  @Test func `an edit of a record that was deleted elsewhere is in the log`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    let note = Note("Milk")
    one.context.insert(note)
    try one.context.save()
    try await settle(one, two)
    one.context.delete(note)
    try one.context.save()
    try #require(try two.note("Milk")).text = "lost"
    try two.context.save()
    try await settle(one, two)
    #expect(try one.content == two.content)
    #expect(try two.content.isEmpty)
    #expect(try await two.engine.conflicts().contains { $0.mine?.string == "lost" })
  }

  @Test func `unsaved edits stay as they are`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    one.context.insert(Note("Milk"))
    try one.context.save()
    try await settle(one, two)
    let edited = try #require(try one.note("Milk"))
    edited.text = "being written"
    let far = try #require(try two.note("Milk"))
    far.text = "far"
    far.count = 7
    try two.context.save()
    try await settle(two, one)
    // A fetch applies what others have saved.
    #expect(try one.note("Milk") === edited)
    #expect(edited.text == "being written")
    #expect(edited.count == 7)
    try one.context.save()
    try await settle(one, two)
    #expect(try two.note("Milk")?.text == "being written")
  }

  @Test func `the history says who changed it`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    one.context.insert(Note("Milk"))
    try one.context.save()
    try await settle(one, two)
    let transactions = try two.context.fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(transactions.map(\.author) == ["sync"])
  }

  @Test func `containers without a zone are refused`() throws {
    let container = try ModelContainer(
      for: Note.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    #expect(throws: SyncError.nothingToSync) { try SyncEngine(container, transport: server) }
  }

  @Test func `an erased store holds nothing and fetches again`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    one.context.insert(Note("Milk"))
    try one.context.save()
    try await settle(one, two)
    try two.container.erase()
    #expect(try two.content.isEmpty)
    try await settle(two, one)
    #expect(try one.content == two.content)
    #expect(try two.content.count == 1)
  }

  @Test func `a refused deletion is taken back`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    one.context.insert(Box("box"))
    try one.context.save()
    try await settle(one, two)
    let boxes = FetchDescriptor<Box>()
    let item = Item("item")
    item.box = try two.context.fetch(boxes).first
    two.context.insert(item)
    try two.context.save()
    try one.context.fetch(boxes).forEach { one.context.delete($0) }
    try one.context.save()
    try await settle(two, one)
    #expect(try ModelContext(one.container).fetch(boxes).map(\.name) == ["box"])
    #expect(
      try ModelContext(one.container).fetch(FetchDescriptor<Item>()).first?.box?.name == "box")
    let refused = try #require(try await one.engine.quarantine().first)
    #expect(refused.reason.contains("denies"))
    #expect(try await one.engine.retry(refused) == false, "the item still refers to it")
    try two.context.fetch(FetchDescriptor<Item>()).forEach { two.context.delete($0) }
    try two.context.save()
    try await settle(two, one)
    #expect(try await one.engine.retry(refused))
    try await settle(one, two)
    #expect(try ModelContext(two.container).fetch(boxes).isEmpty)
    #expect(try await one.engine.quarantine().isEmpty)
  }

  /// Once all edits of a save had the time of its last one.
  @Test func `an edit has its own time and not that of its save`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    for title in ["a", "b"] { one.context.insert(Note(title)) }
    try one.context.save()
    try await settle(one, two)
    try #require(try one.note("a")).text = "first"
    await nextMillisecond()
    try #require(try two.note("a")).text = "second"
    try two.context.save()
    await nextMillisecond()
    try #require(try one.note("b")).text = "third"
    try one.context.save()
    try await settle(one, two)
    try await settle(one)
    #expect(try one.content == two.content)
    #expect(
      try ModelContext(one.container).fetch(FetchDescriptor<Note>()).first { $0.title == "a" }?.text
        == "second")
  }
}
