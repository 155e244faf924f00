import Foundation
import SteadFiles
import SteadFormats
import SteadTestSupport
import Testing

@testable import SteadPreferences

/// When keys were set, in a checkpoint, a property list and a record that restores a lost file.
struct KeyStampsTests {
  private func stamp(_ generation: UInt64, _ offset: UInt64 = 8) -> Journal.Stamp {
    Journal.Stamp(generation: generation, offset: offset)
  }

  /// A gap before the table of offsets once made Foundation refuse a list whose table had entries of one byte.
  @Test(arguments: [0, 1, 3, 40, 3_000])
  func `every reader reads a list with stamps as it was`(count: Int) throws {
    let fields = PropertyList.Fields(
      (0..<count).map { .init("key \($0)", .integer(Int64($0))) })
    let list = try BinaryPropertyList.encode(fields)
    var stamps = KeyStamps(floor: stamp(1))
    for field in fields { stamps.record(field.key, stamp(UInt64(field.key.count), 16)) }
    let stamped = stamps.added(to: list)
    #expect(try PropertyList.fields(of: stamped) == fields)
    let found = try PropertyListSerialization.propertyList(from: stamped, format: nil)
    #expect((found as? [String: Int])?.count == count)
    let read = try #require(KeyStamps(file: stamped))
    #expect(read.horizon == stamps.horizon)
    #expect(stamps.added(to: list) == stamped)
  }

  @Test func `stamps of the keys that were set last are kept, and a floor for the others`() throws {
    var stamps = KeyStamps()
    let count = KeyStamps.limit + 10
    for number in 0..<count { stamps.record("\(number)", stamp(UInt64(number + 1))) }
    let list = try BinaryPropertyList.encode(PropertyList.Fields())
    let read = try #require(KeyStamps(file: stamps.added(to: list)))
    #expect(read.floor == stamp(10))
    #expect(read.known("9") == nil)
    #expect(read.known("10") == stamp(11))
    #expect(read.horizon == stamp(UInt64(count)))
  }

  @Test func `a file that somebody has edited has no stamps`() throws {
    var stamps = KeyStamps()
    stamps.record("a", stamp(3))
    let binary = stamps.added(
      to: try BinaryPropertyList.encode(["a": .string("text")] as PropertyList.Fields))
    var edited = binary
    let place = try #require(edited.range(of: Data("text".utf8)))
    edited.replaceSubrange(place, with: Data("Text".utf8))
    #expect(KeyStamps(file: binary) != nil)
    // A stamp that a disk has changed isn't compared with anything.
    let block = try #require(KeyStamps.block(of: binary))
    for position in block {
      var flipped = binary
      flipped[position] ^= 1
      #expect(KeyStamps(file: flipped) == nil, "byte \(position)")
    }
    #expect(KeyStamps(file: edited) == nil)

    let xml = try PropertyList.dictionary(["a": .string("text")]).data(format: .xml)
    let published = stamps.added(toXML: xml)
    #expect(try PropertyList.fields(of: published) == PropertyList.fields(of: xml))
    #expect(KeyStamps(file: published)?.known("a") == stamp(3))
    let text = String(decoding: published, as: UTF8.self)
    #expect(KeyStamps(file: Data(text.replacingOccurrences(of: "text", with: "Text").utf8)) == nil)
  }

  @Test func `a restoring record says when its values were set`() {
    let stamps = [stamp(1, 2), stamp(.max, 1 << 40)]
    let edit = DomainEdit.restoring(stamps)
    #expect(DomainEdit.restoredStamps(edit.key, edit.value) == stamps)
    #expect(DomainEdit.restoredStamps(edit.key, .bool(true)) == nil)
    #expect(DomainEdit.restoredStamps("\0other", nil) == nil)
  }

  @Test func `a record keeps its stamp in the files into which it is copied`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let store = try DomainStore("app", directory: directory.url, options: .init())
    let file = try #require(store.state.withLock { $0.file })
    try store.set(.integer(1), forKey: "a")
    try store.set(.integer(2), forKey: "b")
    let before = file.stampSources.changes.map(\.stamp)
    try #require(before.count == 2 && before[0] < before[1])
    // Somebody puts back a removed file.
    unlink(directory.file("app.journal").filePath)
    try store.flush()
    try store.set(.integer(3), forKey: "c")
    let after = file.stampSources.changes.map(\.stamp)
    #expect(after.prefix(2) == before[...])
    #expect(after[1] < after[2])
    // A copy, whose records may have gone another way.
    let copy = directory.file("copy")
    try FileManager.default.copyItem(at: directory.file("app.journal"), to: copy)
    rename(copy.filePath, directory.file("app.journal").filePath)
    let other = try DomainStore("app", directory: directory.url, options: .init())
    let copied = try #require(other.state.withLock { $0.file })
    try other.set(.integer(4), forKey: "d")
    #expect(copied.stampSources.changes.map(\.stamp).prefix(3) == after[...])
    #expect(copied.stampSources.changes[3].stamp > after[2])
  }
}
