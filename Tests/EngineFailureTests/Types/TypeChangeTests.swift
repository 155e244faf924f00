import SteadSQLite

@testable import SteadRecords

/// Types were compared by their names. A struct that had gained a field, an enum that had lost a case: the container
/// opened, and then every fetch threw. And a value that no case has, written by another program, kept a store closed
/// whose models had not changed at all.
@Suite("types that changed under their names") struct TypeChangeTests {
  private let file: RecordsTestSupport.StoreFile

  init() throws { file = try RecordsTestSupport.StoreFile() }

  /// A store of ``Earlier`` with a book, whose container is closed.
  private func makeBook(_ change: (Earlier.Book) -> Void = { _ in }) throws {
    let context = ModelContext(try file.open(Earlier.Book.self))
    let book = Earlier.Book(title: "Emma")
    change(book)
    context.insert(book)
    try context.save()
  }

  private func sql(_ statement: String) throws -> [[SQLValue]] {
    var options = SQLiteOptions(.file(file.url.path))
    options.isWritable = true
    // Fields of structs are columns that json_extract computes.
    options.trustsSchema = true
    return try SQLiteConnection(options).rows(statement)
  }

  private var content: [[SQLValue]] {
    get throws { try sql("SELECT * FROM Book") + sql("SELECT * FROM stead_metadata") }
  }

  @Test func `a struct that gained fields has those of the property's default value`() throws {
    try makeBook {
      $0.settings.volume = 9
      $0.settings.layout.columns = 2
      $0.settings.limits = ["b": 2]
      $0.settings.hint = nil
    }
    let container = try file.open(Later.Book.self)
    let book = try ModelContext(container).only(Later.Book.self)
    var expected = Later.Settings(volume: 9, layout: Later.Layout(columns: 2, isWide: true))
    // What the value has stays: a dictionary's entries, and nil.
    (expected.limits, expected.hint) = (["b": 2], nil)
    #expect(book.settings == expected)
    // Plain SQL and predicates reach the new field.
    #expect(try sql("SELECT settings_theme FROM Book") == [[.text("plain")]])
    let plain = #Predicate<Later.Book> { $0.settings.theme == "plain" }
    #expect(try ModelContext(container).count(of: plain) == 1)
    let other = #Predicate<Later.Book> { $0.settings.theme != "plain" }
    #expect(try ModelContext(container).count(of: other) == 0)
  }

  @Test func `cases and optional fields that are new change no value`() throws {
    try makeBook {
      $0.kind = .ebook
      $0.notes = [Earlier.Note(text: "a")]
      $0.rating = .text(words: "b")
    }
    let book = try ModelContext(file.open(Later.Book.self)).only(Later.Book.self)
    #expect(book.kind == .ebook && book.rating == .text(words: "b"))
    #expect(book.notes == [Later.Note(text: "a", author: nil)])
  }

  @Test(
    arguments: [
      (Other.NoEbook.Book.self, ["Book.kind", "Kind", "1", "keep the type"]),
      (
        Other.NoDefault.Book.self,
        ["Book.settings", "Settings", "theme", "default value", "decodeIfPresent", "1"]
      ),
      (Other.OtherField.Book.self, ["Book.settings", "Settings", "volume", "1"]),
      (Other.Elements.Book.self, ["Book.notes", "Note", "author", "1"]),
      (Other.Payload.Book.self, ["Book.rating", "Rating", "1"]),
    ] as [(any PersistentModel.Type, [String])])
  func `values that a type cannot read are found before a byte is written`(
    _ type: any PersistentModel.Type, _ words: [String]
  ) throws {
    try makeBook {
      $0.kind = .ebook
      $0.notes = [Earlier.Note(text: "secret")]
      $0.rating = .text(words: "secret")
    }
    let before = try content
    let error = try #require(throws: SwiftDataError.self) { try file.open(type) }
    #expect(error.code == .loadIssueModelContainer)
    for word in words { #expect(error.message.contains(word), "\(error.message)") }
    #expect(!"\(error)".contains("secret"))
    #expect(try content == before)
    // The app that wrote it reads it as ever.
    let book = try ModelContext(file.open(Earlier.Book.self)).only(Earlier.Book.self)
    #expect(book.kind == .ebook)
  }

  @Test(
    arguments: [
      Other.NoEbook.Book.self, Other.NoDefault.Book.self, Other.OtherField.Book.self,
      Other.Elements.Book.self,
    ] as [any PersistentModel.Type])
  func `a store without such values opens`(_ type: any PersistentModel.Type) throws {
    let context = ModelContext(try file.open(Earlier.Book.self))
    try context.save()
    let container = try file.open(type)
    func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
      try ModelContext(container).count(type)
    }
    #expect(try _openExistential(type, do: count) == 0)
  }

  // The schema had changed elsewhere, so every value was looked at, and the whole store stayed closed.
  @Test func `a value that no case has makes its object unreadable, and no other`() throws {
    try makeBook()
    try makeBook { $0.title = "Persuasion" }
    _ = try sql("UPDATE Book SET kind = 'papyrus' WHERE _id = 1")
    for type in [Earlier.Book.self, Other.NewProperty.Book.self] as [any PersistentModel.Type] {
      let container = try file.open(type)
      func check<T: PersistentModel>(_ type: T.Type) throws {
        let context = ModelContext(container)
        let error = try #require(throws: SwiftDataError.self) { try context.all(type) }
        #expect(error.code == .unreadableValue)
        #expect(error.message.contains("Book.kind of row 1"))
        #expect(!"\(error)".contains("papyrus"))
      }
      try _openExistential(type, do: check)
    }
    let title = #Predicate<Other.NewProperty.Book> { $0.title == "Persuasion" }
    let context = ModelContext(try file.open(Other.NewProperty.Book.self))
    #expect(try context.only(where: title).kind == .paper)
  }

  // What a schema that an earlier version of this library has written lacks.
  @Test func `a store that records no structures opens, and records them`() throws {
    try makeBook { $0.settings.volume = 5 }
    let recorded = "json_extract(value, '$.entities[0].attributes[1].form.structure')"
    #expect(try sql("SELECT \(recorded) FROM stead_metadata WHERE key = 'schema'") != [[.null]])
    _ = try sql(
      """
      UPDATE stead_metadata SET value = (SELECT json_remove(value,
        '$.entities[0].attributes[0].form.structure', '$.entities[0].attributes[1].form.structure',
        '$.entities[0].attributes[2].form.structure', '$.entities[0].attributes[3].form.structure',
        '$.entities[0].attributes[4].form.structure')) WHERE key = 'schema'
      """)
    _ = try sql("UPDATE stead_metadata SET value = 'old' WHERE key = 'tables'")
    let book = try ModelContext(file.open(Earlier.Book.self)).only(Earlier.Book.self)
    #expect(book.settings.volume == 5)
    #expect(try sql("SELECT \(recorded) FROM stead_metadata WHERE key = 'schema'") != [[.null]])
  }

  // 1e300 became infinity, unasked, and the next save of the object stored that.
  @Test(arguments: [1e300, -1e300, 3.5e38, 3e38, 0.1, .infinity, -.infinity, .nan, -0.0, 1e-300])
  func `a number becomes a Float if it stays finite`(_ value: Double) throws {
    let context = ModelContext(try file.open(Earlier.Reading.self))
    let reading = Earlier.Reading(value)
    reading.optional = value
    context.insert(reading)
    try context.save()
    guard Float(value).isFinite || !value.isFinite else {
      let error = try #require(throws: SwiftDataError.self) { try file.open(Later.Reading.self) }
      #expect(error.message.contains("Reading.value now has the type Float"), "\(error.message)")
      #expect(error.message.contains("Reading.optional now has the type Float"))
      #expect(
        try ModelContext(file.open(Earlier.Reading.self)).only(Earlier.Reading.self).value == value)
      return
    }
    let now = try ModelContext(file.open(Later.Reading.self)).only(Later.Reading.self)
    #expect(now.value.bitPattern == Float(value).bitPattern || value.isNaN && now.value.isNaN)
    #expect(now.optional.map { $0 == Float(value) || value.isNaN } ?? false)
  }

  @Test func `a number beyond a Float that another program wrote is the nearest`() throws {
    let context = ModelContext(try file.open(Later.Reading.self))
    context.insert(Later.Reading(1))
    try context.save()
    _ = try sql("UPDATE Reading SET value = -1e300")
    let reading = try ModelContext(file.open(Later.Reading.self)).only(Later.Reading.self)
    #expect(reading.value == -.greatestFiniteMagnitude)
  }

  @Test func `files go when their property is no longer stored in files, or is gone`() throws {
    let context = ModelContext(try file.open(Earlier.Picture.self))
    let large = (0..<3).map { Data(repeating: UInt8($0), count: 200_000) }
    for data in large { context.insert(Earlier.Picture(data)) }
    // Two rows share a file, and one is of the property that goes.
    context.insert(Earlier.Picture(large[0]))
    let other = Earlier.Picture(nil)
    other.other = Data(repeating: 9, count: 300_000)
    context.insert(other)
    try context.save()
    let directory = file.directory.appending(path: ".test.store_external")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 4)
    let pictures = try ModelContext(file.open(Later.Picture.self)).all(Later.Picture.self)
    #expect(Set(pictures.compactMap(\.data)) == Set(large) && pictures.count == 5)
    let left = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    #expect(left.isEmpty)
    // The backup that the migration made has its own.
    let backup = file.directory.file("test.store.backup")
    let configuration = ModelConfiguration(url: backup)
    let old = try ModelContainer(for: Earlier.Picture.self, configurations: configuration)
    let kept = try ModelContext(old).all(Earlier.Picture.self)
    #expect(kept.compactMap(\.other) == [Data(repeating: 9, count: 300_000)])
  }
}

extension ModelContext {
  fileprivate func count<T: PersistentModel>(of predicate: Predicate<T>) throws -> Int {
    try fetchCount(FetchDescriptor(predicate: predicate))
  }
}
