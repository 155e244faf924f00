@testable import SteadRecords

/// Coding keys that changed under a type's name, and types within other types of the library.
///
/// Coding keys were compared of structs that are properties themselves, not of what is in arrays, dictionaries,
/// optionals and payloads, nor of enums; and `ContiguousArray<Note>` was a name. The container opened, and every fetch threw.
@Suite("coding keys, and types within types") struct CodingKeyTests {
  // MARK: Structures

  /// Types with a note, or with what has one, in all places that values have.
  private static func types<Note: Codable & Hashable, Level: Codable & Comparable & Hashable>(
    _: Note.Type, _: Level.Type
  ) -> [any Any.Type] {
    [
      Note.self, Note?.self, [Note].self, [Note?].self, [[Note]].self, Set<Note>.self,
      [String: Note].self, [Note: Int].self, [Int: [Note]].self, ContiguousArray<Note>.self,
      ArraySlice<Note>.self, CollectionOfOne<Note>.self, Keyed.Box<Note>.self,
      [Keyed.Box<Note>].self, Keyed.Box<[Note?]>.self, Keyed.Box<ContiguousArray<Note>>.self,
      Range<Level>.self, ClosedRange<Level>.self, PartialRangeFrom<Level>.self,
      PartialRangeThrough<Level>.self, PartialRangeUpTo<Level>.self, [Range<Level>].self,
    ]
  }

  private static let pairs: [(any Any.Type, any Any.Type)] =
    Array(
      zip(
        types(Keyed.Note.self, Keyed.Level.self), types(Rekeyed.Note.self, Rekeyed.Level.self)))
    + [
      (Keyed.Mark.self, Rekeyed.Mark.self), ([Keyed.Mark].self, [Rekeyed.Mark].self),
      (Keyed.Mark.self, Rekeyed.Payload.self), (Keyed.Geo.self, Rekeyed.Geo.self),
      ([Keyed.Geo].self, [Rekeyed.Geo].self),
    ]

  @Test(arguments: pairs.indices)
  func `another coding key is another structure, wherever the type is`(index: Int) throws {
    let (old, new) = Self.pairs[index]
    let before = StructureReader.structure(of: old)
    let now = StructureReader.structure(of: new)
    #expect(!now.reads(before) && !before.reads(now), "\(before)")
    for structure in [before, now] {
      #expect(structure.reads(structure))
      // As a store records it.
      let data = try JSONEncoder().encode([structure])
      #expect(try JSONDecoder().decode([TypeStructure].self, from: data) == [structure])
    }
  }

  /// Reading the structure decodes nothing: no value that was made up reaches an initializer of the app's.
  @Test func `an initializer that takes apart what it decodes is not run with made up values`() {
    let picky = TypeStructure.fields(["url": .named("URL")], keys: ["address"])
    #expect(StructureReader.structure(of: [Picky].self) == .collection("Array", [picky]))
  }

  private struct Picky: Codable {
    var url: URL
    enum CodingKeys: String, CodingKey { case url = "address" }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let text = try container.decode(String.self, forKey: .url)
      precondition(!text.isEmpty)
      guard let url = URL(string: text) else { throw CocoaError(.coderInvalidValue) }
      self.url = url
    }
  }

  // MARK: Stores

  private static let models: [(any PersistentModel.Type, any PersistentModel.Type, String)] = [
    (Keyed.Book.self, Rekeyed.Book.self, "Book.notes"),
    (Keyed.Index.self, Rekeyed.Index.self, "Index.notes"),
    (Keyed.Review.self, Rekeyed.Review.self, "Review.mark"),
    (Keyed.Shelf.self, Rekeyed.Shelf.self, "Shelf.notes"),
    (Keyed.Place.self, Rekeyed.Place.self, "Place.geo"),
    (Keyed.Scale.self, Rekeyed.Scale.self, "Scale.range"),
  ]

  private func fill(_ file: RecordsTestSupport.StoreFile, _ type: any PersistentModel.Type) throws {
    let context = ModelContext(try file.open(type))
    for number in 0..<5 {
      let note = Keyed.Note(text: "secret")
      let isEmpty = number == 0
      switch type {
      case is Keyed.Book.Type:
        let book = Keyed.Book()
        if !isEmpty { book.notes = [note] }
        context.insert(book)
      case is Keyed.Index.Type:
        let index = Keyed.Index()
        if !isEmpty { index.notes = ["secret": note] }
        context.insert(index)
      case is Keyed.Review.Type:
        let review = Keyed.Review()
        if !isEmpty { review.mark = .stars(5) }
        context.insert(review)
      case is Keyed.Shelf.Type:
        let shelf = Keyed.Shelf()
        if !isEmpty { shelf.notes = [note] }
        context.insert(shelf)
      case is Keyed.Scale.Type:
        let scale = Keyed.Scale()
        if !isEmpty { scale.range = Keyed.Level(height: 1)...Keyed.Level(height: 2) }
        context.insert(scale)
      default:
        let place = Keyed.Place()
        if !isEmpty { place.geo.note = note }
        context.insert(place)
      }
    }
    try context.save()
  }

  @Test(arguments: models.indices)
  func `values under other keys are found before a byte is written`(index: Int) throws {
    let (old, new, name) = Self.models[index]
    let file = try RecordsTestSupport.StoreFile()
    try fill(file, old)
    let error = try #require(throws: SwiftDataError.self) { try file.open(new) }
    #expect(error.code == .loadIssueModelContainer)
    for word in [name, "2, 3, 4 and 1 more"] {
      #expect(error.message.contains(word), "\(error.message)")
    }
    #expect(!"\(error)".contains("secret"))
    func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
      try ModelContext(file.open(type)).all(type).count
    }
    #expect(try _openExistential(old, do: count) == 5)
  }

  @Test(arguments: models.indices)
  func `a store without such values opens under other keys`(index: Int) throws {
    let (old, new, _) = Self.models[index]
    let file = try RecordsTestSupport.StoreFile()
    try ModelContext(file.open(old)).save()
    func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
      try ModelContext(file.open(type)).all(type).count
    }
    #expect(try _openExistential(new, do: count) == 0)
  }
}
