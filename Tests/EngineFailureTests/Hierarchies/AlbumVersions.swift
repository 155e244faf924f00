import SwiftData

/// Large values of two versions: the first and the third have one, the second has two.
enum Album1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Photo.self] }

  @Model final class Photo {
    var name = ""
    @Attribute(.externalStorage) var image: Data?
    init() {}
  }
}

enum Album2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Photo.self] }

  @Model final class Photo {
    var name = ""
    @Attribute(.externalStorage) var image: Data?
    @Attribute(.externalStorage) var original: Data?
    init() {}
  }
}

enum Album3: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
  static var models: [any PersistentModel.Type] { [Album1.Photo.self] }
}

/// Drops the second value.
enum AlbumPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Album2.self, Album3.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Album2.self, toVersion: Album3.self)]
  }
}

/// A herd that loses a class without columns of its own.
enum Herd1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Sheep.self, Goose.self] }

  @Model class Animal {
    var name = ""
    init() {}
  }

  @Model final class Sheep: Animal {
    var wool = 0
    override init() { super.init() }
  }

  @Model final class Goose: Animal {
    var eggs = 0
    override init() { super.init() }
  }
}

enum Herd2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Herd1.Sheep.self] }
}

enum HerdPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Herd1.self, Herd2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Herd1.self, toVersion: Herd2.self,
        willMigrate: { context in
          for sheep in try context.fetch(FetchDescriptor<Herd1.Sheep>()) { context.delete(sheep) }
          try context.save()
        }, didMigrate: nil)
    ]
  }
}

/// The name of an author becomes a required relationship.
enum Shelf1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Book.self, Author.self] }

  @Model final class Book {
    var author = ""
    var editor: Author?
    init() {}
  }

  @Model final class Author {
    var name = ""
    init() {}
  }
}

enum Shelf2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Book.self, Shelf1.Author.self] }

  @Model final class Book {
    var author: Shelf1.Author
    var editor: Shelf1.Author
    var first: Shelf1.Author

    init(author: Shelf1.Author) {
      self.author = author
      editor = author
      first = author
    }
  }
}

/// Gives each book the objects that it requires.
enum ShelfPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Shelf1.self, Shelf2.self] }
  static var stages: [MigrationStage] {
    [
      stage { book, author in
        book.author = author
        book.editor = author
        book.first = author
      }
    ]
  }

  static func stage(_ set: @escaping @Sendable (Shelf2.Book, Shelf1.Author) -> Void)
    -> MigrationStage
  {
    .custom(
      fromVersion: Shelf1.self, toVersion: Shelf2.self,
      willMigrate: { context in
        for book in try context.fetch(FetchDescriptor<Shelf1.Book>()) {
          let author = Shelf1.Author()
          author.name = book.author
          context.insert(author)
        }
        try context.save()
      },
      didMigrate: { context in
        let authors = try context.fetch(FetchDescriptor<Shelf1.Author>())
        for (book, author) in zip(try context.fetch(FetchDescriptor<Shelf2.Book>()), authors) {
          set(book, author)
        }
        try context.save()
      })
  }
}

/// Forgets some of the books.
enum ForgetfulShelfPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { ShelfPlan.schemas }
  static var stages: [MigrationStage] {
    [
      ShelfPlan.stage { book, author in
        guard author.name == "Ann" else { return }
        book.author = author
        book.editor = author
        book.first = author
      }
    ]
  }
}
