import SteadSQLite

@testable import SteadRecords

/// Values of a type that had changed under its name were found, and completed, only where a container opened its store
/// for writing, without a custom stage, and if the store had recorded what the type was made of. Elsewhere the container
/// opened, and every fetch threw.
@Suite("types that changed under their names, wherever a store is opened")
struct TypeChangePlaceTests {
  private let file: RecordsTestSupport.StoreFile

  init() throws { file = try RecordsTestSupport.StoreFile() }

  // MARK: The store

  /// A store of ``Earlier`` with some books, whose container is closed.
  private func makeBooks(_ count: Int = 5, _ change: (Earlier.Book, Int) -> Void = { _, _ in })
    throws
  {
    let context = ModelContext(try file.open(Earlier.Book.self))
    for number in 0..<count {
      let book = Earlier.Book(title: "\(number)")
      change(book, number)
      context.insert(book)
    }
    try context.save()
  }

  /// Books of which each has a value that ``Later`` alone reads.
  private func makeOldBooks() throws {
    try makeBooks { book, number in
      book.kind = .ebook
      book.settings.volume = number
      book.notes = [Earlier.Note(text: "secret")]
      book.rating = .text(words: "secret")
    }
  }

  private func sql(_ statement: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    var options = SQLiteOptions(.file(file.url.path))
    options.isWritable = true
    options.trustsSchema = true
    return try SQLiteConnection(options).rows(statement, values)
  }

  private var content: [[SQLValue]] {
    get throws {
      try sql("SELECT * FROM Book ORDER BY _id") + sql("SELECT * FROM stead_metadata ORDER BY key")
    }
  }

  /// Makes the store one of an earlier version of this library, which recorded no structures.
  private func forgetStructures() throws {
    guard
      case .text(let text)? = try sql("SELECT value FROM stead_metadata WHERE key = 'schema'")
        .first?.first
    else { return }
    func without(_ json: Any) -> Any {
      switch json {
      case let object as [String: Any]:
        object.filter { $0.key != "structure" }.mapValues(without)
      case let array as [Any]: array.map(without)
      default: json
      }
    }
    let json = without(try JSONSerialization.jsonObject(with: Data(text.utf8)))
    let data = try JSONSerialization.data(withJSONObject: json)
    _ = try sql(
      "UPDATE stead_metadata SET value = ?1 WHERE key = 'schema'",
      [.text(String(decoding: data, as: UTF8.self))])
    _ = try sql("UPDATE stead_metadata SET value = 'old' WHERE key = 'tables'")
  }

  // MARK: Opening

  /// How a container opens its store.
  enum Way: CaseIterable { case withoutPlan, lightweightStage, customStage, unrecorded, readOnly }

  private func open(_ type: any PersistentModel.Type, _ way: Way) throws -> ModelContainer {
    func open<T: PersistentModel>(_ type: T.Type) throws -> ModelContainer {
      let configuration = ModelConfiguration(url: file.url)
      switch way {
      case .withoutPlan, .unrecorded:
        return try ModelContainer(for: type, configurations: configuration)
      case .readOnly:
        return try ModelContainer(
          for: type, configurations: ModelConfiguration(url: file.url, allowsSave: false))
      case .lightweightStage:
        return try ModelContainer(
          for: Schema(versionedSchema: After<T>.self), migrationPlan: LightweightPlan<T>.self,
          configurations: configuration)
      case .customStage:
        return try ModelContainer(
          for: Schema(versionedSchema: After<T>.self), migrationPlan: CustomPlan<T>.self,
          configurations: configuration)
      }
    }
    return try _openExistential(type, do: open)
  }

  @Test(
    arguments: Way.allCases,
    [
      (
        Other.NoDefault.Book.self,
        ["Book.settings", "Settings", "theme", "default value", "decodeIfPresent"]
      ),
      (Other.OtherField.Book.self, ["Book.settings", "Settings", "volume"]),
      (Other.Elements.Book.self, ["Book.notes", "Note", "author"]),
      (Other.Payload.Book.self, ["Book.rating", "Rating"]),
      (Other.NoEbook.Book.self, ["Book.kind", "Kind"]),
    ] as [(any PersistentModel.Type, [String])])
  func `values that a type cannot read are found before a byte is written`(
    way: Way, change: (any PersistentModel.Type, [String])
  ) throws {
    try makeOldBooks()
    if way == .unrecorded {
      // Nothing shows whether the app or another program has written the case: see below.
      if change.0 == Other.NoEbook.Book.self { return }
      try forgetStructures()
    }
    let before = try content
    let error = try #require(throws: SwiftDataError.self) { try open(change.0, way) }
    #expect(error.code == .loadIssueModelContainer)
    for word in change.1 + ["1, 2, 3 and 2 more"] {
      #expect(error.message.contains(word), "\(error.message)")
    }
    #expect(!"\(error)".contains("secret"))
    #expect(try content == before)
    #expect(try ModelContext(file.open(Earlier.Book.self)).all(Earlier.Book.self).count == 5)
  }

  @Test(arguments: Way.allCases)
  func `fields that a struct has gained come from the property's default value`(way: Way) throws {
    try makeOldBooks()
    if way == .unrecorded { try forgetStructures() }
    if way == .readOnly {
      let before = try content
      let error = try #require(throws: SwiftDataError.self) { try open(Later.Book.self, way) }
      for word in ["Book.settings", "Settings", "1, 2, 3 and 2 more", "allowsSave: true"] {
        #expect(error.message.contains(word), "\(error.message)")
      }
      #expect(try content == before)
      _ = try open(Later.Book.self, .withoutPlan)
    }
    let container = try open(Later.Book.self, way)
    let books = try ModelContext(container).all(Later.Book.self).sorted { $0.title < $1.title }
    #expect(books.map(\.settings.volume) == Array(0..<5))
    #expect(books.allSatisfy { $0.settings.theme == "plain" && $0.settings.layout.isWide })
    #expect(books.allSatisfy { $0.kind == .ebook && $0.notes == [Later.Note(text: "secret")] })
    #expect(
      try sql("SELECT DISTINCT settings_theme FROM Book") == [[.text("plain")]], "By plain SQL.")
    let plain = #Predicate<Later.Book> { $0.settings.theme == "plain" }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor(predicate: plain)) == 5)
    _ = try open(Later.Book.self, way)
  }

  @Test(
    arguments: Way.allCases,
    [
      Later.Book.self, Other.NoDefault.Book.self, Other.OtherField.Book.self,
      Other.Elements.Book.self, Other.NoEbook.Book.self,
    ] as [any PersistentModel.Type])
  func `a store without rows opens`(way: Way, type: any PersistentModel.Type) throws {
    try makeBooks(0)
    if way == .unrecorded { try forgetStructures() }
    let container = try open(type, way)
    func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
      // A store that stays as it is lacks the columns of new fields.
      way == .readOnly ? 0 : try ModelContext(container).count(type)
    }
    #expect(try _openExistential(type, do: count) == 0)
  }

  // It kept the whole store closed once.
  @Test(arguments: Way.allCases)
  func `what another program has written makes its object unreadable, and no other`(way: Way)
    throws
  {
    try makeBooks(3)
    _ = try sql("UPDATE Book SET kind = 'papyrus' WHERE _id = 1")
    _ = try sql("UPDATE Book SET settings = '{\"volume\": \"loud\"}' WHERE _id = 2")
    if way == .unrecorded { try forgetStructures() }
    let container =
      try way == .customStage || way == .lightweightStage
      ? open(Earlier.Book.self, .withoutPlan) : open(Earlier.Book.self, way)
    for (title, column) in [("0", "Book.kind of row 1"), ("1", "Book.settings of row 2")] {
      let one = #Predicate<Earlier.Book> { $0.title == title }
      let error = try #require(throws: SwiftDataError.self) {
        try ModelContext(container).fetch(FetchDescriptor(predicate: one))
      }
      #expect(error.code == .unreadableValue && error.message.contains(column))
    }
    let whole = #Predicate<Earlier.Book> { $0.title == "2" }
    #expect(try ModelContext(container).fetch(FetchDescriptor(predicate: whole)).count == 1)
  }

  /// The program has the struct that the values were written with no more, and the store does not say what it was: all
  /// that is known is its name. The values stand for those of an earlier form of it.
  @Test(
    arguments: [
      (Form.lacksField, nil), (.lacksFieldAndColumn, nil),
      (.lacksElementsField, ["Book.notes", "Note", "text", "1, 2, 3"]),
      (.isUnreadable, ["Book.settings", "Settings", "volume", "1, 2, 3"]),
    ] as [(Form, [String]?)])
  func `a struct that changes in the update of this library is completed or refused`(
    form: Form, words: [String]?
  ) throws {
    let context = ModelContext(try file.open(Later.Book.self))
    for number in 0..<3 {
      let book = Later.Book(title: "\(number)")
      book.settings.volume = number
      context.insert(book)
    }
    try context.save()
    switch form {
    case .lacksField, .lacksFieldAndColumn:
      if form == .lacksFieldAndColumn {
        _ = try sql("ALTER TABLE Book DROP COLUMN settings_theme")
      }
      _ = try sql("UPDATE Book SET settings = json_remove(settings, '$.theme')")
    case .lacksElementsField: _ = try sql("UPDATE Book SET notes = '[{}]'")
    case .isUnreadable:
      _ = try sql("UPDATE Book SET settings = json_set(settings, '$.volume', 'secret')")
    }
    try forgetStructures()
    let before = try content
    if let words {
      let error = try #require(throws: SwiftDataError.self) { try file.open(Later.Book.self) }
      for word in words { #expect(error.message.contains(word), "\(error.message)") }
      #expect(!"\(error)".contains("secret"))
      #expect(try content == before)
      return
    }
    for _ in 0..<2 {
      let container = try file.open(Later.Book.self)
      let books = try ModelContext(container).all(Later.Book.self)
      #expect(books.count == 3 && books.allSatisfy { $0.settings.theme == "plain" })
      #expect(Set(books.map(\.settings.volume)) == [0, 1, 2])
      let plain = #Predicate<Later.Book> { $0.settings.theme == "plain" }
      #expect(try ModelContext(container).fetchCount(FetchDescriptor(predicate: plain)) == 3)
    }
  }

  enum Form { case lacksField, lacksFieldAndColumn, lacksElementsField, isUnreadable }

  // MARK: Stages

  @Test func `willMigrate changes values to ones that the new type has`() throws {
    try makeOldBooks()
    let container = try ModelContainer(
      for: Schema(versionedSchema: After<Other.NoEbook.Book>.self),
      migrationPlan: PaperPlan.self, configurations: ModelConfiguration(url: file.url))
    let books = try ModelContext(container).all(Other.NoEbook.Book.self)
    #expect(books.count == 5 && books.allSatisfy { $0.kind == .paper })
  }

  /// Versions of an app mostly share their types: the earlier version has the changed struct, too.
  @Test func `a type that both versions of a custom stage share is completed before it`() throws {
    try makeOldBooks()
    let container = try ModelContainer(
      for: Schema(versionedSchema: SharedAfter.self), migrationPlan: SharedPlan.self,
      configurations: ModelConfiguration(url: file.url))
    let books = try ModelContext(container).all(SharedAfter.Book.self)
    #expect(books.count == 5 && books.allSatisfy { $0.settings.theme == "plain" && $0.pages == 7 })
  }

  @Test func `a type that both versions share and cannot read is refused with a remedy`() throws {
    try makeOldBooks()
    let before = try content
    let error = try #require(throws: SwiftDataError.self) {
      try ModelContainer(
        for: Schema(versionedSchema: SharedAfter.self), migrationPlan: SharedWrongPlan.self,
        configurations: ModelConfiguration(url: file.url))
    }
    for word in ["Book.notes", "author", "1, 2, 3 and 2 more", "types as they were"] {
      #expect(error.message.contains(word), "\(error.message)")
    }
    #expect(try content == before)
  }
}

// MARK: Versions and plans

private enum Before: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Earlier.Book.self] }
}

private enum After<Model: PersistentModel>: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Model.self] }
}

private enum LightweightPlan<Model: PersistentModel>: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Before.self, After<Model>.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Before.self, toVersion: After<Model>.self)]
  }
}

/// It looks at each object, and at no value that has changed.
private enum CustomPlan<Model: PersistentModel>: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Before.self, After<Model>.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Before.self, toVersion: After<Model>.self,
        willMigrate: { context in
          for book in try context.fetch(FetchDescriptor<Earlier.Book>()) { _ = book.title }
        }, didMigrate: nil)
    ]
  }
}

private enum PaperPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    [Before.self, After<Other.NoEbook.Book>.self]
  }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Before.self, toVersion: After<Other.NoEbook.Book>.self,
        willMigrate: { context in
          for book in try context.fetch(FetchDescriptor<Earlier.Book>()) { book.kind = .paper }
        }, didMigrate: nil)
    ]
  }
}

private enum SharedBefore: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Later.Book.self] }
}

private enum SharedAfter: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self] }

  @Model final class Book {
    var title = ""
    var kind = Later.Kind.paper
    var settings = Later.Settings()
    var notes: [Later.Note] = []
    var rating = Later.Rating.none
    var pages = 0
    init() {}
  }
}

private enum SharedPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SharedBefore.self, SharedAfter.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: SharedBefore.self, toVersion: SharedAfter.self, willMigrate: nil,
        didMigrate: { context in
          for book in try context.fetch(FetchDescriptor<SharedAfter.Book>()) { book.pages = 7 }
        })
    ]
  }
}

/// Versions with notes that can't be read.
private enum SharedWrong: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self] }

  @Model final class Book {
    var title = ""
    var kind = Earlier.Kind.paper
    var settings = Earlier.Settings()
    var notes: [Other.Elements.Note] = []
    var rating = Earlier.Rating.none
    init() {}
  }
}

private enum SharedWrongPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SharedWrong.self, SharedAfter.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: SharedWrong.self, toVersion: SharedAfter.self, willMigrate: { _ in },
        didMigrate: nil)
    ]
  }
}
