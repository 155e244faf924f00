import Foundation
import SteadFormats
import Testing

@testable import SteadFiles
@testable import SteadPreferences

/// A domain's journal and property list file, and what others do to them.
struct DomainFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func store(_ options: DomainStore.Options = DomainStore.Options()) throws -> DomainStore {
    // Not `open`: each store here plays another process.
    try DomainStore("app", directory: directory.url, options: options)
  }

  private var plist: URL { directory.file("app.plist") }

  private func published() throws -> PropertyList.Fields {
    try PropertyList.fields(of: Data(contentsOf: plist))
  }

  /// Writes a file as an editor does, and dates it back to where nobody can still be writing it.
  private func edit(_ data: Data) throws {
    try data.write(to: plist)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: plist.path)
  }

  private func edit(_ change: (inout PropertyList.Fields) -> Void) throws {
    var fields = try published()
    change(&fields)
    try edit(BinaryPropertyList.encode(fields))
  }

  @Test func `what is set is seen by another and afterwards`() throws {
    let (first, second) = (try store(), try store())
    try first.set(.integer(1), forKey: "a")
    #expect(second.value(forKey: "a") == .integer(1))
    try second.set(nil, forKey: "a")
    try second.apply([
      DomainEdit(key: "b", value: .string("B")), DomainEdit(key: "c", value: .bool(true)),
    ])
    #expect(first.value(forKey: "a") == nil)
    #expect(first.value(forKey: "b") == .string("B"))
    #expect(try store().contents().count == 2)
  }

  @Test func `checkpoint publishes what was set`() throws {
    let store = try store()
    try store.set(.float(0.5), forKey: "half")
    try store.checkpoint()
    #expect(try published() == ["half": .float(0.5)])
    #expect(try plist.mode == 0o600)
  }

  @Test(arguments: [0, 127, 128, 131_000, 131_072, 5_000_000])
  func `data of any size is seen by another`(byteCount: Int) throws {
    let (first, second) = (try store(), try store())
    let data = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try first.set(.data(data), forKey: "a key")
    try first.set(.bool(true), forKey: "behind it")
    #expect(second.value(forKey: "a key") == .data(data))
    #expect(second.value(forKey: "behind it") == .bool(true))
    #expect(try store().value(forKey: "a key") == .data(data))
  }

  @Test func `a long log is compacted and seen by others`() throws {
    let (first, second) = (try store(), try store())
    for number in 0..<20_000 { try first.set(.integer(Int64(number)), forKey: "count") }
    #expect(second.value(forKey: "count") == .integer(19_999))
    try second.set(.bool(true), forKey: "seen")
    #expect(first.value(forKey: "seen") == .bool(true))
    // Either may be compacting, with files of its own beside the journal.
    for one in [first, second] {
      while one.state.withLock({ $0.file?.compaction.phase != DomainFile.BackgroundCompaction.none }
      ) {
        sched_yield()
      }
    }
    let names = try directory.names
    #expect(names == ["app.journal", "app.plist"])
    let bytes = try names.reduce(0) { $0 + (try Data(contentsOf: directory.file($1)).count) }
    #expect(bytes < 256 * 1024)
  }

  @Test func `an edit is merged key by key`() throws {
    let store = try store()
    try store.apply([
      DomainEdit(key: "edited", value: .integer(1)), DomainEdit(key: "set", value: .integer(1)),
      DomainEdit(key: "removed", value: .integer(1)), DomainEdit(key: "both", value: .integer(1)),
    ])
    try store.checkpoint()
    try store.set(.integer(2), forKey: "set")
    try store.set(.integer(2), forKey: "both")
    try edit { fields in
      fields["edited"] = .string("by hand")
      fields["removed"] = nil
      fields["added"] = .bool(true)
      fields["both"] = .integer(3)
    }
    store.refresh()
    let expected: PropertyList.Fields = [
      "edited": .string("by hand"), "set": .integer(2), "added": .bool(true), "both": .integer(3),
    ]
    #expect(PropertyList.Fields(store.contents()) == expected)
    #expect(try published() == expected)
    #expect(PropertyList.Fields(try self.store().contents()) == expected)
  }

  /// Foundation's reader took an edit without braces for the keys before a stray character, and the others were
  /// removed from the domain.
  @Test(arguments: ["a = 5; ! b = 6;", "a = 5; } b = 6;", "a = 5;; b = 6;", "! a = 5;"])
  func `an edit with a stray character removes no key`(text: String) throws {
    let store = try store()
    try store.apply([
      DomainEdit(key: "a", value: .string("1")), DomainEdit(key: "b", value: .string("2")),
    ])
    try store.checkpoint()
    try edit(Data(text.utf8))
    store.refresh()
    try store.set(.bool(true), forKey: "c")
    try? store.checkpoint()
    for store in [store, try self.store()] {
      #expect(
        PropertyList.Fields(store.contents())
          == ["a": .string("1"), "b": .string("2"), "c": .bool(true)])
    }
  }

  @Test func `an edit before opening is taken in once`() throws {
    try store().set(.integer(1), forKey: "a")
    try store().checkpoint()
    try edit { $0["a"] = .integer(2) }
    let store = try store()
    #expect(store.value(forKey: "a") == .integer(2))
    try store.set(.integer(3), forKey: "a")
    store.refresh()
    #expect(store.value(forKey: "a") == .integer(3))
    #expect(try self.store().value(forKey: "a") == .integer(3))
  }

  @Test func `edits are taken in before a file is replaced`() throws {
    let store = try store()
    try store.set(.integer(1), forKey: "a")
    try store.checkpoint()
    try edit { $0["b"] = .integer(2) }
    try store.set(.integer(3), forKey: "c")
    try store.checkpoint()
    #expect(try published() == ["a": .integer(1), "b": .integer(2), "c": .integer(3)])
  }

  /// XML has whole seconds only: a file that a tool has converted must not cost a date its fraction.
  @Test func `converting the file changes nothing`() throws {
    let store = try store()
    let moment = PropertyList.date(Date(timeIntervalSinceReferenceDate: 700_000_000.625))
    try store.apply([
      DomainEdit(key: "moment", value: moment), DomainEdit(key: "small", value: .float(0.1)),
    ])
    try store.checkpoint()
    let script =
      "import plistlib,sys; p=sys.argv[1]; d=plistlib.load(open(p,'rb')); d['new']=1; "
      + "plistlib.dump(d, open(p,'wb'), fmt=plistlib.FMT_XML)"
    try run("python3", ["-c", script, plist.path])
    try edit(try Data(contentsOf: plist))
    store.refresh()
    #expect(store.value(forKey: "new") == .integer(1))
    #expect(store.value(forKey: "moment") == moment)
    #expect(store.value(forKey: "small") == .float(0.1))
  }

  @Test func `a file that does not parse is kept aside and reported`() throws {
    let store = try store()
    try store.set(.integer(1), forKey: "a")
    try store.checkpoint()
    let broken = Data("<plist><dict><key>a".utf8)
    try edit(broken)
    let errors = Errors()
    let token = store.addProblemHandler { errors.add($0) }
    defer { store.removeProblemHandler(token) }
    store.refresh()
    try store.checkpoint()
    #expect(try Data(contentsOf: directory.file("app.plist.damaged-1")) == broken)
    #expect(try published() == ["a": .integer(1)])
    #expect(errors.codes == [.damaged])
  }

  @Test func `a file that somebody is writing is left alone`() throws {
    let store = try store()
    try store.set(.integer(1), forKey: "a")
    try store.checkpoint()
    let half = try Data(contentsOf: plist).dropLast(5)
    try half.write(to: plist)
    try store.set(.integer(2), forKey: "a")
    try store.checkpoint()
    #expect(try Data(contentsOf: plist) == half)
    #expect(try directory.names == ["app.journal", "app.plist"])
    #expect(try self.store().value(forKey: "a") == .integer(2))
  }

  /// What somebody is writing began as this checkpoint: with a newer one to compare with, keys that were
  /// set meanwhile would count as edited back.
  @Test func `no new checkpoint is made under an editor`() throws {
    let store = try store()
    try store.set(.integer(0), forKey: "count")
    try store.checkpoint()
    let whole = try Data(contentsOf: plist)
    try whole.dropLast(5).write(to: plist)
    for number in 1...20_000 { try store.set(.integer(Int64(number)), forKey: "count") }
    var fields = try PropertyList.fields(of: whole)
    fields["new"] = .bool(true)
    try edit(BinaryPropertyList.encode(fields))
    store.refresh()
    #expect(store.value(forKey: "new") == .bool(true))
    #expect(store.value(forKey: "count") == .integer(20_000))
  }

  @Test func `what a loss of power leaves is written anew`() throws {
    let store = try store()
    try store.set(.integer(1), forKey: "a")
    try store.checkpoint()
    try edit(Data(count: 64))
    store.refresh()
    #expect(try published() == ["a": .integer(1)])
    #expect(try directory.names == ["app.journal", "app.plist"])
  }

  @Test func `an opening publishes what was cut off`() throws {
    let first = try store()
    try first.set(.integer(1), forKey: "a")
    try first.checkpoint()
    // The very file, not another one of the same contents.
    let old = directory.file("old")
    #expect(link(plist.filePath, old.filePath) == 0)
    try first.set(.integer(2), forKey: "a")
    try first.checkpoint()
    #expect(rename(old.filePath, plist.filePath) == 0)
    _ = try store()
    #expect(try published() == ["a": .integer(2)])
  }

  @Test func `without a journal, the property list is read`() throws {
    let store = try store()
    try store.set(.unsignedInteger(.max), forKey: "a")
    try store.checkpoint()
    try FileManager.default.removeItem(at: directory.file("app.journal"))
    #expect(try self.store().value(forKey: "a") == .unsignedInteger(.max))
  }

  @Test func `without a journal, a file that does not parse is kept`() throws {
    let broken = Data("not a list".utf8)
    try edit(broken)
    let store = try store()
    try store.set(.integer(1), forKey: "a")
    try store.checkpoint()
    #expect(try Data(contentsOf: directory.file("app.plist.damaged-1")) == broken)
    // Put back and repaired, it is an edit.
    try edit(BinaryPropertyList.encode(["old": .integer(5)] as PropertyList.Fields))
    store.refresh()
    #expect(store.value(forKey: "old") == .integer(5))
  }

  @Test func `a quota refuses what is too much`() throws {
    let store = try store(DomainStore.Options(quota: 100))
    try store.set(.string("short"), forKey: "a")
    let error = #expect(throws: PreferencesError.self) {
      try store.set(.data(Data(count: 200)), forKey: "b")
    }
    #expect(error?.code == .quotaExceeded)
    #expect(store.value(forKey: "b") == nil)
    #expect(store.value(forKey: "a") == .string("short"))
    try store.set(nil, forKey: "a")
    try store.set(.data(Data(count: 80)), forKey: "b")
  }

  @Test func `replacing the contents is one write`() throws {
    let (first, second) = (try store(), try store())
    try first.apply([
      DomainEdit(key: "a", value: .integer(1)), DomainEdit(key: "b", value: .integer(2)),
    ])
    let events = Events()
    let token = second.addHandler { events.add($0) }
    defer { second.removeHandler(token) }
    try first.replaceContents(with: ["b": .integer(3), "c": .integer(4)])
    second.refresh()
    #expect(
      PropertyList.Fields(second.contents()) == ["b": .integer(3), "c": .integer(4)])
    #expect(events.all.flatMap(\.changes).map(\.key).sorted() == ["a", "b", "c"])
    #expect(events.all.allSatisfy { !$0.isOwn })
  }

  @Test func `read-only refuses to write and makes nothing`() throws {
    let store = try store(DomainStore.Options(isReadOnly: true))
    #expect(store.value(forKey: "a") == nil)
    let error = #expect(throws: PreferencesError.self) { try store.set(.integer(1), forKey: "a") }
    #expect(error?.code == .readOnly)
    #expect(try directory.names.isEmpty)
    try self.store().set(.integer(2), forKey: "a")
    store.refresh()
    #expect(store.value(forKey: "a") == .integer(2))
  }

  private func run(_ tool: String, _ arguments: [String]) throws {
    try ToolRun.text([tool] + arguments)
  }
}

/// Collects the events that a handler gets.
private final class Events: Sendable {
  private let events = ForkSafeLock<[DomainEvent]>([])
  var all: [DomainEvent] { events.withLock { $0 } }
  func add(_ event: DomainEvent) { events.withLock { $0.append(event) } }
}

/// Collects the errors that a handler gets.
private final class Errors: Sendable {
  private let errors = ForkSafeLock<[PreferencesError]>([])
  var codes: [PreferencesError.Code] { errors.withLock { $0.map(\.code) } }
  func add(_ error: PreferencesError) { errors.withLock { $0.append(error) } }
}
