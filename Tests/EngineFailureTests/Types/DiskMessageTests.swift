/// Opening a container on a full disk threw an error that spoke of pending changes, and asked to save again. There was
/// nothing to save.
@Suite("what an error of the disk says", .serialized) struct DiskMessageTests {
  @Test(.needs(.smallDisk))
  func `opening on a full disk speaks of opening, and a save of its changes`() throws {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let url = disk.directory.file("full.store")
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Playlist.self, Song.self, configurations: ModelConfiguration(url: url))
    }
    try disk.fill(leaving: 0)
    let opening = try #require(throws: SwiftDataError.self) { try open() }
    #expect(opening.code == .storageFull, "\(opening)")
    #expect(!opening.message.contains("pending") && !opening.message.contains("save"))
    #expect(opening.message.contains("disk is full") && opening.message.contains("try again"))
    try disk.empty()
    let context = ModelContext(try open())
    try disk.fill(leaving: 64 * 1024)
    for number in 0..<20_000 { context.insert(Song(title: "\(number)")) }
    let saving = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect(saving.code == .storageFull)
    #expect(saving.message.contains("still pending") && saving.message.contains("save again"))
    try disk.empty()
    try context.save()
  }

  /// SQLite says that it is full only where it writes: the index of a log that can't be made was an unknown failure.
  @Test(.needs(.smallDisk), arguments: StoreState.allCases)
  func `opening a store speaks of the full disk wherever it ends`(state: StoreState) throws {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let url = disk.directory.file("app.store")
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Playlist.self, Song.self, configurations: ModelConfiguration(url: url))
    }
    if state != .new {
      let context = ModelContext(try open())
      context.insert(Song(title: "kept"))
      try context.save()
    }
    var hasFailed = false
    // From no page at all to as many as the index of a log and what an opening writes take.
    for pages in 0..<32 {
      try disk.fill(leaving: pages * 4096)
      do {
        let songs = try ModelContext(try open()).fetchCount(FetchDescriptor<Song>())
        #expect(songs == (state == .new ? 0 : 1))
      } catch let error as SwiftDataError {
        hasFailed = true
        #expect(error.code == .storageFull, "\(pages) pages: \(error)")
        #expect(error.message.contains("disk is full") && !error.message.contains("pending"))
      }
      try disk.empty()
    }
    #expect(hasFailed)
    #expect(
      try ModelContext(try open()).fetchCount(FetchDescriptor<Song>()) == (state == .new ? 0 : 1))
  }

  enum StoreState: CaseIterable { case new, saved }
}
