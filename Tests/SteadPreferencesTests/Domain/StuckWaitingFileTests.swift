import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadPreferences

/// A process that was stopped while it had the waiting file locked, alone or together with the journal.
///
/// Each set then took 0.1 s, and its value was in memory alone. Writers that had the journal's lock could not write either.
@Suite(.hangLimit) struct StuckWaitingFileTests {
  enum Change: CaseIterable {
    case set, remove, several, contents

    func make(_ number: Int, in store: DomainStore) throws {
      let value = PropertyList.integer(Int64(number))
      switch self {
      case .set: try store.set(value, forKey: "k")
      case .remove: try store.set(number % 2 == 0 ? nil : value, forKey: "k")
      case .several:
        try store.apply([DomainEdit(key: "k", value: value), DomainEdit(key: "gone", value: nil)])
      case .contents:
        try store.replaceContents(with: ["k": value])
      }
    }

    func value(after number: Int) -> PropertyList? {
      self == .remove && number % 2 == 0 ? nil : .integer(Int64(number))
    }
  }

  private let home: TestHome

  init() throws { home = try TestHome(inMemory: true) }

  private var directory: URL { home.config.appending(path: "app") }
  private var journal: URL { directory.file("app.journal") }
  private var waiting: URL { directory.file("app.waiting") }

  private func open() throws -> DomainStore {
    try DomainStore("app", directory: directory, options: DomainStore.Options(lockWait: .zero))
  }

  private func lock(_ url: URL) throws -> Int32 {
    let descriptor = try POSIXDisk().open(url.filePath, O_RDWR, mode: 0)
    #expect(try POSIXDisk().lock(descriptor, wait: true, path: url.filePath))
    return descriptor
  }

  /// A store whose waiting file has a value, with the lock of the journal, and perhaps that of the waiting file.
  private func stuck(_ store: DomainStore) throws -> (journal: Int32, waiting: Int32) {
    try store.set(.integer(0), forKey: "k")
    let holder = try lock(journal)
    #expect(throws: PreferencesError.self) { try store.set(.integer(0), forKey: "first") }
    return (holder, try lock(waiting))
  }

  @Test(arguments: Change.allCases, [false, true])
  func `no change is lost while the waiting file is locked`(change: Change, isReopened: Bool) throws
  {
    let count = 10
    var store = try open()
    let held = try stuck(store)
    for number in 1...count {
      if isReopened { store = try open() }
      let error = #expect(throws: PreferencesError.self) { try change.make(number, in: store) }
      #expect(error?.code == .locked && error?.message.contains("app.waiting") == true)
    }
    store = try open()
    #expect(store.value(forKey: "k") == change.value(after: count))
    unlockAndClose(held.journal)
    let next = try open()
    #expect(next.value(forKey: "k") == change.value(after: count))
    #expect(try next.storedContents().contains { $0.key == "k" } == (change != .remove))
    unlockAndClose(held.waiting)
    #expect(!FileManager.default.fileExists(atPath: waiting.filePath))
    #expect(try open().value(forKey: "k") == change.value(after: count))
  }

  @Test(arguments: Change.allCases, [false, true])
  func `writers go on while the waiting file is locked`(change: Change, isReopened: Bool) throws {
    var store = try open()
    let held = try stuck(store)
    unlockAndClose(held.journal)
    for number in 1...10 {
      if isReopened { store = try open() }
      try change.make(number, in: store)
      #expect(try open().value(forKey: "k") == change.value(after: number))
    }
    let hasFirst = try open().value(forKey: "first") != nil
    #expect(hasFirst == (change != .contents))
    unlockAndClose(held.waiting)
    #expect(!FileManager.default.fileExists(atPath: waiting.filePath))
  }

  /// The file's lock keeps apart those that add to it. Without it they must not overwrite each other's records.
  @Test(.ownThread, arguments: [false, true])
  func `nobody overwrites what another process adds`(isLocked: Bool) async throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for round in 0..<Effort.times(20) {
      await Task.yield()
      try? FileManager.default.removeItem(at: waiting)
      try Data().write(to: waiting)
      let holder = isLocked ? try lock(waiting) : -1
      let saved = ForkSafeLock<Set<String>>([])
      try inThreads(4) { thread in
        var file = WaitingFile(waiting)
        for number in 0..<5 {
          let edit = DomainEdit(key: "\(thread).\(number)", value: .integer(1))
          guard (try? file.append([edit])) != nil else { continue }
          saved.withLock { _ = $0.insert(edit.key) }
        }
      }
      let found = Set(try WaitingFile(waiting).read()?.edits.map(\.key) ?? [])
      #expect(found.count == 20 && found == saved.withLock { $0 }, "round \(round)")
      if isLocked { unlockAndClose(holder) }
    }
  }

  /// Between the reading of the file and its removal, and by a process that has it open when it is removed.
  @Test func `what is added while the values are written is written, too`() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    var (file, other) = (WaitingFile(waiting), WaitingFile(waiting))
    func edit(_ key: String) -> DomainEdit { DomainEdit(key: key, value: .integer(1)) }
    _ = try file.append([edit("a")])
    var written: [String] = []
    try file.merge(at: Journal.Place(salt: 1, offset: 1)) { contents in
      written += contents.edits.map(\.key)
      if written.count < 4 { _ = try other.append([edit("\(written.count)")]) }
    }
    // What comes after the removal is in a new file.
    let left = try file.read()?.edits.map(\.key) ?? []
    #expect((written + left).starts(with: ["a", "1"]))
  }

  /// The program ended when there were fewer values than before, as after a restoring or where another process has cut off a
  /// record that was half written.
  @Test(arguments: [0, 1, 2], [false, true])
  func `the file may be cut while its values are written`(kept: Int, addsMore: Bool) throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    var (file, other) = (WaitingFile(waiting), WaitingFile(waiting))
    func edit(_ key: String) -> DomainEdit { DomainEdit(key: key, value: .integer(1)) }
    var ends: [Int] = [0]
    for key in ["a", "b", "c"] {
      _ = try file.append([edit(key)])
      ends.append(try Data(contentsOf: waiting).count)
    }
    var written: [[String]] = []
    try file.merge(at: Journal.Place(salt: 1, offset: 1)) { contents in
      written.append(contents.edits.map(\.key))
      guard written.count == 1 else { return }
      #expect(truncate(waiting.filePath, off_t(ends[kept])) == 0)
      if addsMore { for key in ["d", "e", "f"] { _ = try other.append([edit(key)]) } }
    }
    #expect(written == [["a", "b", "c"]] + (addsMore ? [["d", "e", "f"]] : []))
    #expect(try file.read() == nil)
  }
}
