import Foundation
import SteadFormats
import Testing

@testable import SteadFiles
@testable import SteadPreferences

/// Property list files that a disk damages, or that somebody edits while they are published.
@Suite struct PublishedFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  private func store(
    _ options: DomainStore.Options = DomainStore.Options()
  ) throws -> DomainStore {
    // Not `open`: each store here plays another process.
    try DomainStore("app", directory: directory.url, options: options)
  }

  private var plist: URL { directory.file("app.plist") }

  private func published() throws -> PropertyList.Fields {
    try PropertyList.fields(of: Data(contentsOf: plist))
  }

  /// Turns a bit of the file and leaves its date as it was, as a disk does.
  private func flip(_ bit: Int) throws {
    var status = stat()
    #expect(lstat(plist.filePath, &status) == 0)
    let handle = try FileHandle(forUpdating: plist)
    try handle.seek(toOffset: UInt64(bit / 8))
    let byte = try #require(try handle.read(upToCount: 1)?.first)
    try handle.seek(toOffset: UInt64(bit / 8))
    try handle.write(contentsOf: Data([byte ^ (1 << (bit % 8))]))
    try handle.close()
    var times = [status.st_atim, status.st_mtim]
    #expect(utimensat(AT_FDCWD, plist.filePath, &times, 0) == 0)
  }

  /// Values of every kind, so that most bits of the file belong to one.
  private static let values = PropertyList.Fields(
    (0..<40).map { number in
      let name = "key \(number)"
      return switch number % 4 {
      case 0: .init(name, .integer(Int64(number) * 1_000))
      case 1: .init(name, .string("text \(number)"))
      case 2: .init(name, .double(Double(number) / 7))
      default: .init(name, .bool(true))
      }
    })

  /// Of 100 such files 85 changed a value for good, once, and nobody was told.
  @Test func `a bit that a disk turns changes nothing`() throws {
    let store = try store()
    try store.replaceContents(with: Self.values)
    try store.checkpoint()
    let bytes = try Data(contentsOf: plist)
    let problems = DomainProblems(store)
    for bit in stride(from: 3, to: bytes.count * 8, by: bytes.count * 8 / 60) {
      let isOpen = bit.isMultiple(of: 2)
      try flip(bit)
      let damaged = try Data(contentsOf: plist)
      let other = isOpen ? store : try self.store()
      other.refresh()
      try other.checkpoint()
      #expect(PropertyList.Fields(other.contents()) == Self.values, "bit \(bit)")
      #expect(try Data(contentsOf: plist) == bytes, "bit \(bit)")
      let aside = directory.file("app.plist.damaged-1")
      #expect(try Data(contentsOf: aside) == damaged)
      try FileManager.default.removeItem(at: aside)
      store.refresh()
      #expect(problems.take() == (isOpen ? [.damaged] : []), "bit \(bit)")
    }
    #expect(PropertyList.Fields(try self.store().contents()) == Self.values)
  }

  @Test func `who may only read takes the journal's values`() throws {
    let writer = try store()
    try writer.replaceContents(with: Self.values)
    try writer.checkpoint()
    let byteCount = try Data(contentsOf: plist).count
    for bit in stride(from: 64, to: byteCount * 8, by: byteCount * 8 / 20) {
      try flip(bit)
      let reader = try store(DomainStore.Options(isReadOnly: true))
      #expect(PropertyList.Fields(reader.contents()) == Self.values, "bit \(bit)")
      try flip(bit)
    }
  }

  /// Once such a file was no longer known as the one that was written, and damage to it counted as an edit.
  @Test func `a file that was saved as it was is written anew`() throws {
    let store = try store()
    try store.replaceContents(with: Self.values)
    try store.checkpoint()
    try Data(contentsOf: plist).write(to: plist, options: .atomic)
    try store.checkpoint()
    let byteCount = try Data(contentsOf: plist).count
    for bit in stride(from: 64, to: byteCount * 8, by: byteCount * 8 / 20) {
      try flip(bit)
      store.refresh()
      try store.checkpoint()
      #expect(PropertyList.Fields(store.contents()) == Self.values, "bit \(bit)")
    }
  }

  /// An editor who writes into the file at once, and as many bytes, is an editor all the same.
  @Test func `an edit at once is no damage`() throws {
    let store = try store()
    let problems = DomainProblems(store)
    for number in 1...100 {
      try store.set(.integer(Int64(number)), forKey: "set")
      try store.checkpoint()
      var fields = try published()
      fields["edited"] = .integer(Int64(number))
      try BinaryPropertyList.encode(fields).write(to: plist)
      store.refresh()
      #expect(store.value(forKey: "edited") == .integer(Int64(number)))
    }
    #expect(problems.take().isEmpty)
  }

  /// Once an edit was lost that came between the reading of the file and its replacement.
  @Test func `an edit beside a checkpoint is not lost`() throws {
    let store = try store()
    try store.replaceContents(with: Self.values)
    try store.checkpoint()
    let (plist, edits, checkpoints) = (plist, Counter(), Counter())
    let editor = Thread {
      for number in 1...200 {
        guard var fields = try? PropertyList.fields(of: Data(contentsOf: plist)) else { return }
        fields["edit \(number)"] = .integer(Int64(number))
        try? BinaryPropertyList.encode(fields).write(to: plist, options: .atomic)
        edits.count()
        // Another edit of what a checkpoint has in place for a moment could not know of this one.
        let count = checkpoints.value
        while checkpoints.value < count + 2 { sched_yield() }
      }
    }
    editor.start()
    while !editor.isFinished {
      try store.set(.integer(Int64(checkpoints.value)), forKey: "set")
      try store.checkpoint()
      checkpoints.count()
    }
    store.refresh()
    #expect(edits.value == 200)
    let missing = (1...200).filter { store.value(forKey: "edit \($0)") == nil }
    #expect(missing.isEmpty, "\(checkpoints.value) checkpoints")
  }

  /// Once no compaction succeeded any more, and the journal grew for ever.
  @Test func `what XML cannot hold is published in the binary format`() throws {
    let store = try store(DomainStore.Options(format: .xml))
    let problems = DomainProblems(store)
    try store.set(.string("bell \u{7}"), forKey: "bell")
    for number in 0..<20_000 { try store.set(.integer(Int64(number)), forKey: "count") }
    try store.checkpoint()
    #expect(try Data(contentsOf: directory.file("app.journal")).count < 256 << 10)
    #expect(try Data(contentsOf: plist).starts(with: Data("bplist".utf8)))
    #expect(try published()["bell"] == .string("bell \u{7}"))
    #expect(problems.take() == [.notAPropertyList])
    try store.set(nil, forKey: "bell")
    try store.checkpoint()
    #expect(try Data(contentsOf: plist).starts(with: Data("<?xml".utf8)))
  }

  /// What an earlier version wrote has no mark, and counts as it did.
  @Test func `metadata without a mark is read`() throws {
    func copy(_ text: String, _ mark: PublishedFile.Mark? = nil) -> PublishedFile.Copy {
      .init(fingerprint: .init(Data(text.utf8)), mark: mark)
    }
    let plain = PublishedFile(current: copy("a"), previous: copy("b"))
    let mark = PublishedFile.Mark(file: 7, modified: -1)
    let marked = PublishedFile(current: copy("a", mark), previous: copy("b"))
    let twice = PublishedFile(current: copy("a", mark), previous: copy("b", mark))
    for file in [plain, marked, twice] {
      #expect(file.metadata.withUnsafeBytes { PublishedFile(metadata: $0) } == file)
      #expect(file.metadata.dropLast(8).withUnsafeBytes { PublishedFile(metadata: $0) } == nil)
    }
    #expect(plain.metadata.count == 40 && marked.metadata.count == 72)
  }

  /// The file is then byte for byte the one before; once the edit was taken for a publishing cut off.
  @Test func `an edit that undoes what was set is an edit`() throws {
    let store = try store()
    try store.replaceContents(with: ["a": .integer(1)])
    try store.checkpoint()
    let before = try Data(contentsOf: plist)
    try store.set(.integer(2), forKey: "a")
    try store.checkpoint()
    try before.write(to: plist)
    store.refresh()
    #expect(store.value(forKey: "a") == .integer(1))
    try store.set(.integer(3), forKey: "a")
    try store.checkpoint()
    try before.write(to: plist, options: .atomic)
    #expect(try self.store().value(forKey: "a") == .integer(1))
  }
}
