import Foundation
import SteadFiles
import SteadFormats
import SteadTestSupport
import Testing

@testable import SteadPreferences

/// What somebody puts in the place of a domain's journal, its property list or its waiting file, before the domain is
/// opened and while it is. Each thing once made the journal be given up, or the domain unwritable.
struct StrangerTests {
  private let home: TemporaryDirectory
  private var directory: URL { home.file("app") }
  private var journal: URL { directory.appending(path: "app.journal") }
  private var plist: URL { directory.appending(path: "app.plist") }
  private var waiting: URL { directory.appending(path: "app.waiting") }

  init() throws { home = try TemporaryDirectory() }

  enum Thing: String, CaseIterable {
    case directory, pipe, danglingLink, loop, movedAndLinked, linkToOther, empty, garbage
    case another, older
  }

  private func open() throws -> DomainStore {
    var options = DomainStore.Options()
    options.lockWait = .milliseconds(20)
    return try DomainStore("app", directory: directory, options: options)
  }

  /// What a program finds that begins now.
  private func found() throws -> [String: PropertyList] {
    Dictionary(uniqueKeysWithValues: try open().contents().map { ($0.key, $0.value) })
  }

  private func expectFound(_ expected: [String: PropertyList], _ comment: Comment) throws {
    let found = try found()
    for (key, value) in expected { #expect(found[key] == value, comment) }
    if let old = found["removed"] { #expect(expected["removed"] == old, comment) }
  }

  // MARK: The journal

  @Test(arguments: Thing.allCases, [1, 2])
  func `a thing in the place of the journal of an open domain costs no value`(
    thing: Thing, count: Int
  ) throws {
    for isRemoved in [false, true] {
      try? FileManager.default.removeItem(at: directory)
      var expected: [String: PropertyList] = ["k": .string("new")]
      do {
        let stores = try (0..<count).map { _ in try open() }
        try stores[0].set(.string("old"), forKey: "k")
        try stores[0].set(.integer(1), forKey: "removed")
        let older = try Data(contentsOf: journal)
        try stores[0].checkpoint()
        try stores[0].set(.string("new"), forKey: "k")
        try stores[0].set(nil, forKey: "removed")
        for (number, store) in stores.enumerated() {
          try store.set(.integer(Int64(number)), forKey: "before \(number)")
          expected["before \(number)"] = .integer(Int64(number))
        }
        try put(thing, at: journal, older: older)
        for (number, store) in stores.enumerated() {
          try store.set(.integer(Int64(number)), forKey: "after \(number)")
          expected["after \(number)"] = .integer(Int64(number))
          try store.checkpoint()
        }
        for (number, store) in stores.enumerated() {
          store.refresh()
          for (key, value) in expected {
            #expect(store.value(forKey: key) == value, "\(key) in \(number)")
          }
        }
        try expectFound(expected, "while it is open")
      }
      if isRemoved { try removeThings() }
      try expectFound(expected, "afterwards")
      #expect(try open().value(forKey: "k") == .string("new"))
    }
  }

  @Test(arguments: Thing.allCases)
  func `a thing in the place of the journal of a closed domain costs no published value`(
    thing: Thing
  ) throws {
    let older = try published()
    try put(thing, at: journal, older: older)
    let store = try open()
    let problems = DomainProblems(store)
    try store.set(.integer(2), forKey: "after")
    try store.checkpoint()
    #expect(!problems.take().contains(.failed))
    if thing == .another {
      // It is a journal that is in order.
      #expect(try found()["after"] == .integer(2))
    } else {
      try expectFound(["k": .string("new"), "after": .integer(2)], "afterwards")
    }
  }

  // MARK: The property list

  @Test(arguments: [Thing.directory, .pipe, .danglingLink, .loop, .movedAndLinked], [1, 2])
  func `a thing in the place of the property list costs no value`(
    thing: Thing, count: Int
  ) throws {
    for isOpen in [false, true] {
      try? FileManager.default.removeItem(at: directory)
      let older = try published()
      if !isOpen { try put(thing, at: plist, older: older) }
      do {
        let stores = try (0..<count).map { _ in try open() }
        if isOpen { try put(thing, at: plist, older: older) }
        try stores[0].set(.integer(2), forKey: "after")
        for store in stores {
          let errors = Errors()
          _ = store.addProblemHandler(errors.add)
          store.refresh()
          do { try store.checkpoint() } catch { errors.add(PreferencesError(error, domain: nil)) }
          for error in errors.all {
            #expect(error.code == .unavailable, "\(error)")
            #expect(error.message.contains("app.plist"), "\(error)")
            #expect(!error.message.contains("writable"), "\(error)")
          }
          let isFile = thing == .danglingLink || thing == .movedAndLinked
          #expect(errors.all.isEmpty == isFile)
          #expect(store.value(forKey: "after") == .integer(2))
        }
      }
      try expectFound(["k": .string("new"), "after": .integer(2)], "with it")
      try? FileManager.default.removeItem(at: plist)
      let store = try open()
      try store.checkpoint()
      try expectFound(["k": .string("new"), "after": .integer(2)], "without it")
      let data = try Data(contentsOf: plist)
      #expect(try PropertyList.fields(of: data)["after"] == .integer(2))
    }
  }

  // MARK: The waiting file

  /// A directory of that name kept every program from writing the journal, and no message named it.
  @Test(arguments: Thing.allCases, [false, true])
  func `a thing in the place of the waiting file keeps nobody from writing`(
    thing: Thing, isOpen: Bool
  ) throws {
    guard thing != .movedAndLinked, thing != .older else { return }
    _ = try published()
    let early = isOpen ? try open() : nil
    try put(thing, at: waiting, older: Data())
    let store = try early ?? open()
    let errors = Errors()
    _ = store.addProblemHandler(errors.add)
    try store.set(.integer(2), forKey: "after")
    try store.checkpoint()
    try expectFound(["k": .string("new"), "after": .integer(2)], "afterwards")
    try store.set(.integer(3), forKey: "after")
    #expect(try found()["after"] == .integer(3))
  }

  @Test(arguments: Thing.allCases)
  func `values that wait are saved and written whatever has the waiting file's name`(
    thing: Thing
  ) throws {
    guard thing != .movedAndLinked, thing != .older else { return }
    _ = try published()
    let store = try open()
    let problems = Errors()
    _ = store.addProblemHandler(problems.add)
    let holder = try POSIXDisk().open(journal.checkedPath, O_RDWR, mode: 0)
    #expect(try POSIXDisk().lock(holder, wait: false, path: journal.filePath))
    try put(thing, at: waiting, older: Data())
    let first = #expect(throws: PreferencesError.self) {
      try store.set(.integer(2), forKey: "first")
    }
    #expect(first?.code == .locked && first?.message.contains("app.waiting") == true)
    if thing != .empty {
      #expect(problems.all.map(\.code) == [.damaged])
      #expect(problems.all.first?.message.contains("app.waiting") == true)
    }
    // A program that begins now has it in effect.
    #expect(try found()["first"] == .integer(2))
    // Somebody replaces the file that has the value.
    try put(thing, at: waiting, older: Data())
    #expect(throws: PreferencesError.self) { try store.set(.integer(3), forKey: "second") }
    #expect(store.value(forKey: "first") == .integer(2))
    unlockAndClose(holder)
    try store.set(.integer(4), forKey: "third")
    try expectFound(
      ["first": .integer(2), "second": .integer(3), "third": .integer(4)], "afterwards")
  }

  /// Once eight were kept, a ninth file that isn't a waiting file made every write throw. Values that could not be written then
  /// were written over that file.
  @Test(arguments: Thing.allCases)
  func `a thing that can't be kept aside keeps nobody from writing, and stays as it is`(
    thing: Thing
  ) throws {
    guard thing != .movedAndLinked, thing != .older, thing != .empty else { return }
    _ = try published()
    for number in 1...8 {
      try Data().write(to: URL(filePath: waiting.filePath + ".damaged-\(number)"))
    }
    try put(thing, at: waiting, older: Data())
    func bytes() -> Data? {
      let isFile = (try? POSIXDisk().status(at: waiting.filePath))?.kind == .file
      return isFile ? try? Data(contentsOf: waiting) : nil
    }
    let before = bytes()
    let store = try open()
    let errors = Errors()
    _ = store.addProblemHandler(errors.add)
    try store.set(.integer(2), forKey: "after")
    try store.checkpoint()
    let holder = try POSIXDisk().open(journal.checkedPath, O_RDWR, mode: 0)
    #expect(try POSIXDisk().lock(holder, wait: true, path: journal.filePath))
    let error = #expect(throws: PreferencesError.self) {
      try store.set(.integer(3), forKey: "later")
    }
    #expect(error?.code == .locked && error?.message.contains("memory") == true)
    unlockAndClose(holder)
    try store.set(.integer(4), forKey: "last")
    #expect(bytes() == before)
    #expect(errors.all.contains { $0.message.contains("app.waiting") })
    try expectFound(
      ["k": .string("new"), "after": .integer(2), "later": .integer(3), "last": .integer(4)],
      "afterwards")
  }

  // MARK: Damaged checkpoints

  /// The damage was found by nobody: every compaction failed, the journal grew, and edits by hand weren't applied.
  @Test(arguments: [false, true], [1, 2])
  func `a checkpoint that is damaged while a domain is open is written again from memory`(
    isPublished: Bool, count: Int
  ) throws {
    let stores = try (0..<count).map { _ in try open() }
    for number in 0..<100 { try stores[0].set(.integer(Int64(number)), forKey: "\(number)") }
    try stores[0].checkpoint()
    for store in stores { store.refresh() }
    try stores[0].set(.string("new"), forKey: "5")
    try damageCheckpoint()
    if !isPublished { try FileManager.default.removeItem(at: plist) }
    let errors = Errors()
    _ = stores[count - 1].addProblemHandler(errors.add)
    try stores[count - 1].checkpoint()
    #expect(errors.all.map(\.code) == [.damaged])
    #expect(errors.all.first?.message.contains("app.journal") == true)
    try stores[0].set(.string("last"), forKey: "6")
    try stores[0].checkpoint()
    let found = try found()
    #expect(found.count == 100)
    #expect(found["5"] == .string("new") && found["6"] == .string("last"))
    #expect(found["99"] == .integer(99))
  }

  @Test func `an edit by hand is applied though the checkpoint is damaged`() throws {
    let store = try open()
    for key in ["edited", "kept", "both", "gone"] { try store.set(.integer(1), forKey: key) }
    try store.checkpoint()
    try store.set(.integer(2), forKey: "both")
    try store.set(.integer(2), forKey: "new")
    try damageCheckpoint()
    let edit: PropertyList.Fields = [
      "edited": .integer(9), "kept": .integer(1), "both": .integer(1),
    ]
    try BinaryPropertyList.encode(edit).write(to: plist)
    try store.checkpoint()
    let expected: [String: PropertyList] = [
      "edited": .integer(9), "kept": .integer(1), "both": .integer(2), "new": .integer(2),
    ]
    #expect(try found() == expected)
    #expect(try PropertyList.fields(of: Data(contentsOf: plist)).count == 4)
  }

  @Test func `a log is compacted though the checkpoint is damaged`() throws {
    var options = DomainStore.Options()
    (options.logLimit, options.waitingLogLimit) = (8 << 10, 16 << 10)
    let store = try DomainStore("app", directory: directory, options: options)
    for number in 0..<100 { try store.set(.integer(Int64(number)), forKey: "\(number)") }
    try store.checkpoint()
    try damageCheckpoint()
    for _ in 0..<2_000 { try store.set(.data(Data(count: 200)), forKey: "5") }
    #expect(try Data(contentsOf: journal).count < 128 << 10)
    #expect(try found().count == 100)
  }

  // MARK: Damaged records

  /// `flush()` succeeded, and the next program had nothing that was set after the damaged record was.
  @Test(arguments: [0, 50, 99], [1, 2])
  func `a record that is damaged while a domain is open is written again from memory`(
    number: Int, count: Int
  ) throws {
    for isFlushed in [false, true] {
      for isPublished in [false, true] {
        try? FileManager.default.removeItem(at: directory)
        let stores = try (0..<count).map { _ in try open() }
        try stores[0].set(.integer(1), forKey: "first")
        if isPublished { try stores[0].checkpoint() }
        var expected: [String: PropertyList] = ["first": .integer(1)]
        for number in 0..<100 {
          expected["\(number)"] = .string("<\(number)>")
          try stores[0].set(.string("<\(number)>"), forKey: "\(number)")
        }
        for store in stores { store.refresh() }
        try damage("<\(number)>")
        let errors = Errors()
        _ = stores[0].addProblemHandler(errors.add)
        try stores[0].set(.string("late"), forKey: "late")
        if isFlushed { try stores[0].flush() } else { try stores[0].checkpoint() }
        #expect(errors.all.map(\.code) == [.damaged])
        #expect(errors.all.first?.message.contains("restored from memory") == true)
        expected["late"] = .string("late")
        #expect(try found() == expected)
        try stores[count - 1].set(.string("last"), forKey: "last")
        try stores[count - 1].flush()
        expected["last"] = .string("last")
        #expect(try found() == expected)
        #expect(errors.all.count == 1)
      }
    }
  }

  // MARK: Support

  /// Overwrites a string in the journal's log.
  private func damage(_ string: String) throws {
    let bytes = try Data(contentsOf: journal)
    let place = try #require(bytes.range(of: Data(string.utf8))).lowerBound
    let file = try FileHandle(forWritingTo: journal)
    try file.seek(toOffset: UInt64(place))
    try file.write(contentsOf: Data(repeating: 0x58, count: string.utf8.count))
    try file.close()
  }

  private final class Errors: Sendable {
    private let errors = ForkSafeLock<[PreferencesError]>([])
    var add: @Sendable (PreferencesError) -> Void {
      { [errors] error in errors.withLock { $0.append(error) } }
    }
    var all: [PreferencesError] { errors.withLock { $0 } }
  }

  /// Makes a domain with a value in its property list, and returns an older journal.
  private func published() throws -> Data {
    let store = try open()
    try store.set(.string("old"), forKey: "k")
    let older = try Data(contentsOf: journal)
    try store.set(.string("new"), forKey: "k")
    try store.checkpoint()
    return older
  }

  private func damageCheckpoint() throws {
    let file = try FileHandle(forWritingTo: journal)
    try file.seek(toOffset: 4_096 + 30)
    try file.write(contentsOf: Data(repeating: 0xFF, count: 4))
    try file.close()
  }

  private func removeThings() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.filePath) {
      let file = directory.appending(path: name)
      let isLink = try POSIXDisk().status(at: file.filePath)?.kind == .link
      if isLink || name.contains(".damaged-") { try FileManager.default.removeItem(at: file) }
    }
  }

  /// Puts a thing in the place of a file, which is removed unless it is what a link leads to.
  private func put(_ thing: Thing, at url: URL, older: Data) throws {
    let (manager, path) = (FileManager.default, url.filePath)
    let target = url.appendingPathExtension("target")
    if thing == .movedAndLinked { try manager.moveItem(at: url, to: target) }
    if try POSIXDisk().status(at: path) != nil { try manager.removeItem(at: url) }
    switch thing {
    case .directory: try manager.createDirectory(at: url, withIntermediateDirectories: false)
    case .pipe: #expect(mkfifo(path, 0o600) == 0)
    case .danglingLink, .movedAndLinked: #expect(symlink(target.lastPathComponent, path) == 0)
    case .loop: #expect(symlink(url.lastPathComponent, path) == 0)
    case .linkToOther:
      try Data("none of ours".utf8).write(to: target)
      #expect(symlink(target.lastPathComponent, path) == 0)
    case .empty: try Data().write(to: url)
    case .garbage: try Data("none of ours".utf8).write(to: url)
    case .another:
      let other = home.file("other")
      let store = try DomainStore("other", directory: other, options: DomainStore.Options())
      try store.set(.integer(1), forKey: "theirs")
      try POSIXDisk().rename(other.appending(path: "other.journal").checkedPath, to: path)
    case .older: try older.write(to: url)
    }
  }
}
