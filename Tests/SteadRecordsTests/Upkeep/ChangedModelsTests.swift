import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// A container that is open while another program migrates its store to other models: `check()` called what the migration had
/// converted or removed damage, with the advice to open a backup, and named none in hidden columns.
@Suite struct ChangedModelsTests {
  enum Whole {
    @Model final class Album {
      var name = ""
      var cover: Photo?
      @Relationship(inverse: \Photo.album) var photos: [Photo] = []
      init() {}
    }

    @Model class Photo {
      #Index<Photo>([\.size])
      @Attribute(.unique) var title: String
      var size = 0
      var album: Album?
      var tags: [Tag] = []
      init(title: String) { self.title = title }
    }

    @Model final class Scan: Photo {
      @Attribute(.externalStorage) var pixels: Data?
      override init(title: String) { super.init(title: title) }
    }

    @Model final class Tag {
      var name = ""
      init() {}
    }
  }

  /// No subclass, no to-many relationships, nothing unique, no index, no size.
  enum Bare {
    @Model final class Album {
      var name = ""
      init() {}
    }

    @Model final class Photo {
      var title: String
      var album: Album?
      init(title: String) { self.title = title }
    }

    @Model final class Tag {
      var name = ""
      init() {}
    }
  }

  /// Another type and another name, and a name fewer; the list and its order are those of `Whole`.
  enum Converted {
    @Model final class Album {
      var cover: Photo?
      @Relationship(inverse: \Photo.album) var photos: [Photo] = []
      init() {}
    }

    @Model class Photo {
      @Attribute(.unique, originalName: "title") var caption: String
      var size = ""
      var album: Album?
      var tags: [Tag] = []
      init(caption: String) { self.caption = caption }
    }

    @Model final class Scan: Photo {
      @Attribute(.externalStorage) var pixels: Data?
      override init(caption: String) { super.init(caption: caption) }
    }

    @Model final class Tag {
      var name = ""
      init() {}
    }
  }

  /// The classes of the hierarchy get other numbers, since these go by all names.
  @Model final class Aisle {
    var name = ""
    init() {}
  }

  private static let whole: [any PersistentModel.Type] = [
    Whole.Album.self, Whole.Photo.self, Whole.Scan.self, Whole.Tag.self,
  ]

  enum Change: CaseIterable {
    case bare, bareWithoutTags, converted, withAisle, withoutScan, photosAlone

    /// The models of one migration after the other: a type changes with a property that goes and comes.
    var migrations: [[any PersistentModel.Type]] {
      let bare: [any PersistentModel.Type] = [Bare.Album.self, Bare.Photo.self, Bare.Tag.self]
      return switch self {
      case .bare: [bare]
      case .bareWithoutTags: [[Bare.Album.self, Bare.Photo.self]]
      case .converted:
        [
          bare,
          [Converted.Album.self, Converted.Photo.self, Converted.Scan.self, Converted.Tag.self],
        ]
      case .withAisle: [ChangedModelsTests.whole + [Aisle.self]]
      case .withoutScan: [[Whole.Album.self, Whole.Photo.self, Whole.Tag.self]]
      case .photosAlone: [[OtherModelsTests.Plain.Photo.self]]
      }
    }
  }

  private let url: URL

  init() throws { url = try TestFiles.directory().file("test.store") }

  private func open(_ models: [any PersistentModel.Type]) throws -> ModelContainer {
    try ModelContainer(for: Schema(models), configurations: ModelConfiguration(url: url))
  }

  private func fill(_ container: ModelContainer) throws {
    let context = ModelContext(container)
    let (album, tag) = (Whole.Album(), Whole.Tag())
    for photo in [Whole.Photo(title: "one"), Whole.Scan(title: "two")] {
      context.insert(photo)
      photo.tags = [tag]
      album.photos.append(photo)
      album.cover = photo
      (photo as? Whole.Scan)?.pixels = Data(repeating: 1, count: 200_000)
    }
    try context.save()
  }

  private func execute(_ sql: String) throws {
    try StoreFile(ModelConfiguration(url: url)).open(writable: true).execute(sql)
  }

  @Test(arguments: Change.allCases)
  func `a check after a migration by another program names the other models alone`(
    change: Change
  ) throws {
    let container = try open(Self.whole)
    try fill(container)
    #expect(try container.check().problems.isEmpty)
    for models in change.migrations { _ = try open(models) }
    let problems = try container.check().problems
    #expect(!problems.isEmpty)
    #expect(problems.allSatisfy { $0.kind == .differentModels }, "\(problems)")
  }

  @Test(arguments: [
    ("ALTER TABLE Photo DROP COLUMN _album_order", StoreCheck.Problem.Kind.missingColumn),
    ("ALTER TABLE Album RENAME COLUMN cover TO lost", .missingColumn),
    ("ALTER TABLE Photo RENAME COLUMN _entity TO lost", .missingColumn),
    ("ALTER TABLE Photo RENAME COLUMN size TO lost", .missingColumn),
    ("DROP TABLE Photo_tags", .missingTable),
    ("DROP TABLE Tag", .missingTable),
  ])
  func `a check after a migration finds what the other models have and the store lacks`(
    damage: String, kind: StoreCheck.Problem.Kind
  ) throws {
    let container = try open(Self.whole)
    try fill(container)
    for models in Change.converted.migrations { _ = try open(models) }
    try execute(damage)
    let problems = try container.check().problems
    #expect(problems.map(\.kind).filter { $0 != .differentModels } == [kind], "\(problems)")
  }
}
