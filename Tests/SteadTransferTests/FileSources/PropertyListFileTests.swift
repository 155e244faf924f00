import Foundation
import SteadPreferences
import Testing

@testable import SteadTransfer

/// Property list files of other programs, and whole domains.
struct PropertyListFileTests {
  private struct Contact: Codable, Equatable {
    var name: String
    var since: Date?
  }

  private let moving: Moving
  private let file: URL

  init() throws {
    moving = try Moving()
    file = moving.home.file("contacts.plist")
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
  func `elements of an array are items`(
    format: PropertyListSerialization.PropertyListFormat
  ) throws {
    let since = Date(timeIntervalSinceReferenceDate: 5)
    try write([["name": "Ada", "since": since], ["nome": "?"], ["name": "Bob"]], format)
    let source = PropertyListFile<Contact>(file, removesItems: true)
    let items = try source.read { _ in }
    #expect(items.map(\.name) == ["item 0", "item 1", "item 2"])
    #expect(try items[0].value.get() == Contact(name: "Ada", since: since))
    #expect(throws: PreferencesError.self) { try items[1].value.get() }

    let report = try Transfer(
      "contacts", from: TransferSource(source), to: .preferences(moving.destination),
      options: .init(acceptsPartial: true)
    ) { try PreferenceEntry(key: "contact.\($0.name)", encoding: $0) }.run()
    #expect((report.moved, report.removed, report.left) == (2, 2, 1))
    var found = PropertyListSerialization.PropertyListFormat.openStep
    let left = try PropertyListSerialization.propertyList(
      from: Data(contentsOf: file), format: &found)
    #expect(found == format)
    #expect(left as? [[String: String]] == [["nome": "?"]])
    let stored = try #require(moving.destination.propertyList(forKey: "contact.Ada"))
    #expect(
      try PreferenceEntry(key: "", value: stored).decoded() == Contact(name: "Ada", since: since))
  }

  @Test func `a value that is no array is one item`() throws {
    try write(["name": "Ada"], .xml)
    let source = PropertyListFile<Contact>(file, removesItems: true)
    let items = try source.read { _ in }
    #expect(try items.map { try $0.value.get() } == [Contact(name: "Ada", since: nil)])
    let entry = TransferReceipt.Entry(
      identity: items[0].identity, placement: .init(location: "", digest: ""))
    #expect(try source.remove([entry]) == 1)
    #expect(try source.read { _ in }.isEmpty)
  }

  @Test(arguments: ["<plist><array><string>cut off", "bplist00", "{ a = (1, 2; }"])
  func `what is no property list is left alone`(text: String) throws {
    try Data(text.utf8).write(to: file)
    let sources: [any ItemSource] = [
      PropertyListFile<Contact>(file, removesItems: true),
      UserDefaultsFile(file, removesItems: true),
    ]
    for source in sources {
      let error = try #require(throws: TransferError.self) { try Self.read(source) }
      #expect(error.code == .unreadable)
      #expect(!error.description.contains("cut off"))
    }
    #expect(try Data(contentsOf: file) == Data(text.utf8))
  }

  @Test func `a file that is not there has no items`() throws {
    #expect(try PropertyListFile<Contact>(file).read { _ in }.isEmpty)
    #expect(try UserDefaultsFile(file).read { _ in }.isEmpty)
    #expect(try UserDefaultsFile(file, removesItems: true).remove([]) == 0)
    #expect(!FileManager.default.fileExists(atPath: file.filePath))
  }

  // MARK: Every key

  /// As Foundation writes them, with kinds of numbers that must stay what they are.
  @Test func `keys of a program's defaults are items`() throws {
    try write(["count": 3, "ratio": 0.5, "isOn": true, "list": ["a", "b"]], .xml)
    let before = try Data(contentsOf: file)
    let transfer = Transfer(
      "defaults", from: .userDefaults(file), to: .preferences(moving.destination)
    ) { $0 }
    let report = try transfer.run()
    #expect((report.moved, report.removed, report.left) == (4, 0, 4))
    #expect(try Data(contentsOf: file) == before)
    #expect(moving.destination.propertyList(forKey: "count") == .integer(3))
    #expect(moving.destination.propertyList(forKey: "ratio") == .double(0.5))
    #expect(moving.destination.propertyList(forKey: "isOn") == .bool(true))
    #expect(moving.destination.stringArray(forKey: "list") == ["a", "b"])
    #expect(try transfer.run().outcome == .nothingToDo)
  }

  @Test func `only keys that are unchanged are removed`() throws {
    try write(["a": 1, "b": 2, "c": 3], .binary)
    let source = UserDefaultsFile(file, removesItems: true)
    let report = try Transfer(
      "defaults", from: TransferSource(source), to: .preferences(moving.destination)
    ) { $0 }.run { progress in
      if progress.phase == .verifying, progress.completed == 0 {
        try write(["a": 1, "b": 20, "d": 4], .binary)
      }
    }
    #expect((report.moved, report.removed, report.changedMeanwhile) == (3, 1, 2))
    let left = try PropertyListSerialization.propertyList(
      from: Data(contentsOf: file), format: nil)
    #expect(left as? [String: Int] == ["b": 20, "d": 4])
  }

  @Test func `the name of a program leads to its file`() throws {
    let config = moving.home.url.appending(path: ".config", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    try write(["a": 1], .xml, to: config.file("notes.plist"))
    let variables = ["HOME": moving.home.url.filePath]
    let items = try UserDefaultsFile(program: "notes", variables: variables).read { _ in }
    #expect(try items.map { try $0.value.get() } == [PreferenceEntry(key: "a", value: .integer(1))])
    for name in ["", "../notes", "a\0b"] {
      #expect(throws: TransferError.self) {
        try UserDefaultsFile(program: name, variables: variables)
      }
    }
  }

  @Test func `a whole domain is moved without its receipts`() throws {
    moving.put("one")
    moving.source.set(2, forKey: "number")
    let old = PreferencesDestination.receiptPrefix + "other"
    moving.source.set(Data([1]), forKey: old)
    let report = try Transfer(
      "domain", from: .preferences(moving.source), to: .preferences(moving.destination)
    ) { $0 }.run { progress in
      if progress.phase == .removing, progress.completed == 0 {
        moving.source.set(3, forKey: "number")
      }
    }
    #expect((report.moved, report.removed, report.changedMeanwhile) == (2, 1, 1))
    #expect(moving.source.keys == ["number", old])
    #expect(moving.destination.stringArray(forKey: "drafts") == ["one"])
    #expect(moving.destination.integer(forKey: "number") == 2)
  }

  private static func read(_ source: some ItemSource) throws { _ = try source.read { _ in } }

  private func write(
    _ value: Any, _ format: PropertyListSerialization.PropertyListFormat, to other: URL? = nil
  ) throws {
    try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0)
      .write(to: other ?? file)
  }
}
