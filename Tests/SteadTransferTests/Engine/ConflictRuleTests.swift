import Foundation
import SteadPreferences
import SteadSecrets
import SwiftData
import Testing

@testable import SteadTransfer

/// The rules that keep what is there, or write over it.
@Suite struct ConflictRuleTests {
  private let preferences = Preferences.inMemory("org.example.rules")
  private let keeping = TransferOptions(conflicts: .keepExisting)
  private let replacing = TransferOptions(conflicts: .replace)

  private var left: [String] { preferences.stringArray(forKey: "pages") ?? [] }

  /// Items are written `key=text` or `key=text@origin`.
  private func put(_ items: String...) { preferences.set(items, forKey: "pages") }

  private static func page(_ item: String) -> ConflictPage {
    let parts = item.split { "=@".contains($0) }.map(String.init)
    let origin = parts.count > 2 ? ConflictOrigin(parts[2], "of \(parts[0])") : nil
    return ConflictPage(parts[0], parts[1], origin)
  }

  private func pages(
    _ container: ModelContainer, _ options: TransferOptions, chunk: Int = 100
  ) -> Transfer<String, ConflictPage> {
    var transfer = Transfer(
      "pages", from: .preference("pages", of: String.self, in: preferences),
      to: .records(container), options: options
    ) { Self.page($0) }
    transfer.limit.count = chunk
    return transfer
  }

  // MARK: Records

  /// Of two equal items for an empty store the error said that records exist, and advised to delete them.
  @Test func `an error says what has an item's unique value`() throws {
    for (stored, items, isRecord) in [
      ([:], ["a=1", "a=2"], false), (["a": "old"], ["a=1", "b=1"], true),
      (["b": "old"], ["a=1", "a=2", "b=1"], true),
    ] as [([String: String], [String], Bool)] {
      let container = try ModelContainer.pages()
      try container.fillPages(stored)
      preferences.set(items, forKey: "pages")
      let error = try transferError { try pages(container, TransferOptions()).run() }
      #expect(error.code == .conflict)
      #expect(error.message.contains("delete the records") == isRecord)
      let reasons = error.failures.map(\.reason)
      #expect(reasons.contains("a record has its unique value already") == isRecord)
      #expect(
        reasons.contains("another item has its unique value already") == (stored["a"] == nil))
      #expect(left == items)
    }
  }

  /// The documentation said that the next run tries a left item again, which is so if it equals none that was moved.
  @Test(arguments: [("b=3", false), ("b=2", true)])
  func `an item that was left is tried again unless an equal one was moved`(
    last: String, isEqual: Bool
  ) throws {
    let container = try ModelContainer.pages()
    put("a=1", "b=2", last)
    let leaving = TransferOptions(conflicts: .leave)
    let report = try pages(container, leaving).run()
    #expect((report.moved, report.failures.count, report.left) == (2, 1, 1))
    #expect(left == [last])
    let again = try pages(container, leaving).run()
    #expect((again.failures.count, again.alreadyMoved) == (isEqual ? 0 : 1, isEqual ? 1 : 0))
    let kept = try pages(container, keeping).run()
    #expect((kept.kept, kept.removed, kept.left) == (isEqual ? (0, 0, 1) : (1, 1, 0)))
    #expect(left == (isEqual ? [last] : []))
    let removing = TransferOptions(removesAlreadyMoved: true, conflicts: .keepExisting)
    #expect(try pages(container, removing).run().removed == (isEqual ? 1 : 0))
    #expect(left.isEmpty)
    #expect(try container.describePages() == ["a=1", "b=2"])
  }

  /// The source still has the one that was moved, so that two of them are one that was moved and one that is new.
  @Test func `a left item is tried again in a source that is kept`() throws {
    let container = try ModelContainer.pages()
    put("a=1", "b=2", "b=2")
    let leaving = TransferOptions(keepsSource: true, conflicts: .leave)
    for alreadyMoved in [0, 2] {
      let report = try pages(container, leaving).run()
      #expect((report.alreadyMoved, report.failures.count, report.left) == (alreadyMoved, 1, 3))
    }
    #expect(try container.describePages() == ["a=1", "b=2"])
  }

  @Test(arguments: [1, 2, 100]) func `records are kept`(chunk: Int) throws {
    let container = try ModelContainer.pages()
    try container.fillPages(["a": "old"])
    put("a=new", "b=1", "b=2", "c=1")
    let transfer = pages(container, keeping, chunk: chunk)
    if chunk == 100 {
      let preview = try transfer.preview()
      #expect((preview.moved, preview.kept, preview.removed) == (2, 2, 4))
    }
    let report = try transfer.run()
    #expect((report.moved, report.kept, report.replaced) == (2, 2, 0))
    #expect((report.removed, report.left, report.outcome) == (4, 0, .complete))
    #expect(try container.describePages() == ["a=old", "b=1", "c=1"])
    #expect(left.isEmpty)
  }

  @Test(arguments: [1, 2, 100]) func `records are written over`(chunk: Int) throws {
    let container = try ModelContainer.pages()
    try container.fillPages(["a": "old"])
    let identifier = try container.all(ConflictPage.self)[0].persistentModelID
    put("a=new", "b=1", "b=2", "c=1")
    let transfer = pages(container, replacing, chunk: chunk)
    if chunk == 100 {
      let preview = try transfer.preview()
      #expect((preview.moved, preview.replaced, preview.removed) == (4, 2, 4))
      #expect(try container.describePages() == ["a=old"])
    }
    let report = try transfer.run()
    #expect((report.moved, report.kept, report.replaced) == (4, 0, 2))
    #expect((report.removed, report.left, report.outcome) == (4, 0, .complete))
    #expect(try container.describePages() == ["a=new", "b=2", "c=1"])
    let page = try container.all(ConflictPage.self).first { $0.key == "a" }
    #expect(page?.persistentModelID == identifier)
  }

  @Test(arguments: [1, 2, 100]) func `what records lead to follows the rule`(chunk: Int) throws {
    let kept = try ModelContainer.pages()
    try kept.fillPages(["a": "old"], origin: ConflictOrigin("x", "of old"))
    let items = ["b=1@x", "a=new@y", "c=1@x", "d=1@z", "e=1@z"]
    preferences.set(items, forKey: "pages")
    #expect(try pages(kept, keeping, chunk: chunk).run().moved == 4)
    #expect(
      try kept.describePages() == [
        "a=old from x: of old", "b=1 from x: of old", "c=1 from x: of old", "d=1 from z: of d",
        "e=1 from z: of d",
      ])
    #expect(try kept.count(ConflictOrigin.self) == 2)

    let replaced = try ModelContainer.pages()
    try replaced.fillPages(["a": "old"], origin: ConflictOrigin("x", "of old"))
    preferences.set(items, forKey: "pages")
    #expect(try pages(replaced, replacing, chunk: chunk).run().moved == 5)
    #expect(
      try replaced.describePages() == [
        "a=new from y: of a", "b=1 from x: of c", "c=1 from x: of c", "d=1 from z: of e",
        "e=1 from z: of e",
      ])
    #expect(try replaced.count(ConflictOrigin.self) == 3)
  }

  @Test func `an item is named whose object leads to one that is taken`() throws {
    let container = try ModelContainer.pages()
    try container.fillPages(["a": "old"], origin: ConflictOrigin("x", "of old"))
    put("b=1@y", "c=1@x")
    let error = try transferError { try pages(container, .init()).run() }
    #expect(error.code == .conflict && error.failures.map(\.item) == ["pages[1]"])
    let report = try pages(container, .init(conflicts: .leave)).run()
    #expect(report.moved == 1 && report.failures.map(\.item) == ["pages[1]"])
    #expect(left == ["c=1@x"])
  }

  @Test func `what was kept is not moved again`() throws {
    let container = try ModelContainer.pages()
    try container.fillPages(["a": "old"])
    put("a=new", "b=1")
    let options = TransferOptions(keepsSource: true, conflicts: .keepExisting)
    #expect(try pages(container, options).run().kept == 1)
    // What is there may change: the item has given way to whatever it is.
    let context = ModelContext(container)
    for page in try context.fetch(FetchDescriptor<ConflictPage>()) where page.key == "a" {
      page.text = "newer"
    }
    try context.save()
    let report = try pages(container, options).run()
    #expect((report.alreadyMoved, report.outcome) == (2, .nothingToDo))
    let removing = TransferOptions(removesAlreadyMoved: true, conflicts: .keepExisting)
    #expect(try pages(container, removing).run().removed == 2)
    #expect(try container.describePages() == ["a=newer", "b=1"] && left.isEmpty)
  }

  // MARK: Other destinations

  @Test func `keys follow the rule`() throws {
    for (options, text, kept, replaced) in [(keeping, "old", 2, 0), (replacing, "2", 0, 2)] {
      let destination = Preferences.inMemory("org.example.\(options.conflicts)")
      destination.set("old", forKey: "a")
      put("a=1", "b=1", "a=2")
      let transfer = Transfer(
        "keys", from: .preference("pages", of: String.self, in: preferences),
        to: .preferences(destination), options: options
      ) { item in
        let parts = item.split(separator: "=").map(String.init)
        return PreferenceEntry(key: parts[0], value: .string(parts[1]))
      }
      for report in [try transfer.preview(), try transfer.run()] {
        #expect((report.kept, report.replaced, report.removed) == (kept, replaced, 3))
        #expect(report.moved == 3 - kept)
      }
      #expect(destination.string(forKey: "a") == text && destination.string(forKey: "b") == "1")
      #expect(left.isEmpty)
    }
  }

  @Test func `no rule writes over a receipt`() throws {
    for options in [keeping, replacing] {
      put("stead.transfer.keys")
      let destination = Preferences.inMemory("org.example.receipts.\(options.conflicts)")
      let transfer = Transfer(
        "keys", from: .preference("pages", of: String.self, in: preferences),
        to: .preferences(destination), options: options
      ) { PreferenceEntry(key: $0, value: .string("x")) }
      #expect(try transferError { try transfer.run() }.code == .conflict)
      #expect(destination.keys.isEmpty && left == ["stead.transfer.keys"])
    }
  }

  @Test func `secrets follow the rule`() throws {
    for (options, text, kept, replaced) in [(keeping, "old", 2, 0), (replacing, "2", 0, 2)] {
      let secrets = try Secrets(service: "org.example.mail", store: InMemorySecretStore())
      try secrets.set("old", for: "a")
      put("a=1", "b=1", "a=2")
      let transfer = Transfer(
        "tokens", from: .preference("pages", of: String.self, in: preferences),
        to: try .secrets(secrets), options: options
      ) { item in
        let parts = item.split(separator: "=").map(String.init)
        return SecretEntry(account: parts[0], secret: parts[1])
      }
      for report in [try transfer.preview(), try transfer.run()] {
        #expect((report.kept, report.replaced, report.removed) == (kept, replaced, 3))
      }
      #expect(try secrets.string(for: "a") == text && secrets.string(for: "b") == "1")
      #expect(left.isEmpty)
    }
  }

  @Test func `rows of a store follow the rule`() throws {
    for (options, text, kept, replaced) in [(keeping, "old", 2, 0), (replacing, "2", 1, 1)] {
      let old = try ModelContainer(
        for: EarlierModels.ConflictPage.self, EarlierModels.ConflictOrigin.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true))
      let context = ModelContext(old)
      let origin = EarlierModels.ConflictOrigin("x", "of the row")
      for (key, text) in [("a", "1"), ("b", "1"), ("a", "2")] {
        context.insert(EarlierModels.ConflictPage(key, text, origin))
        try context.save()
      }
      let container = try ModelContainer.pages()
      try container.fillPages(["a": "old"], origin: ConflictOrigin("y", "of old"))
      let transfer = Transfer(
        "rows", from: .store(old), to: .store(container), options: options)
      for report in [try transfer.preview(), try transfer.run()] {
        #expect((report.kept, report.replaced, report.removed) == (kept, replaced, 4))
        #expect(report.moved == 4 - kept)
      }
      let first = text == "old" ? "a=old from y: of old" : "a=2 from x: of the row"
      #expect(try container.describePages() == [first, "b=1 from x: of the row"])
      #expect(try old.count(EarlierModels.ConflictPage.self) == 0)
    }
  }

  /// A row that leads to one which gives way leads to what is there.
  @Test func `a row leads to what was kept`() throws {
    for (options, note) in [(keeping, "of old"), (replacing, "of the row")] {
      let old = try ModelContainer(
        for: EarlierModels.ConflictPage.self, EarlierModels.ConflictOrigin.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true))
      let context = ModelContext(old)
      context.insert(
        EarlierModels.ConflictPage("b", "1", EarlierModels.ConflictOrigin("x", "of the row")))
      try context.save()
      let container = try ModelContainer.pages()
      try container.fillPages(["a": "old"], origin: ConflictOrigin("x", "of old"))
      try Transfer("rows", from: .store(old), to: .store(container), options: options).run()
      #expect(
        try container.describePages() == ["a=old from x: \(note)", "b=1 from x: \(note)"])
    }
  }

  @Test func `files follow the rule`() throws {
    for (options, kept, replaced) in [(keeping, 1, 0), (replacing, 0, 1)] {
      let directory = try TemporaryDirectory()
      let container = try ModelContainer.records(at: directory.file("notes.store"))
      let context = ModelContext(container)
      for title in ["a", "b"] {
        let photo = NotePhoto(title: title, image: Data(title.utf8))
        if title == "a" { photo.path = "other.jpg" }
        context.insert(photo)
      }
      try context.save()
      let media = directory.file("media")
      let transfer = Transfer(
        "images", from: try .data(of: \NotePhoto.image, in: container),
        to: try .files(in: media, path: \NotePhoto.path, of: container), options: options
      ) { RecordFile($0.data, of: $0.identifier) }
      for report in [try transfer.preview(), try transfer.run()] {
        #expect((report.kept, report.replaced, report.removed) == (kept, replaced, 2))
      }
      let paths = try container.all(NotePhoto.self).sorted { $0.title < $1.title }.map(\.path)
      #expect((paths[0] == "other.jpg") == (kept == 1))
      #expect(try container.all(NotePhoto.self).allSatisfy { $0.image == nil })
      let files = try FileManager.default.contentsOfDirectory(atPath: media.path)
      #expect(files.count == 2 - kept)
    }
  }
}
