import Foundation
import SteadTestSupport
import SwiftData
import Testing

// As apps in Swift 5 mode write plans: lists in variables, versions as structs, values carried in variables.

struct AlbumSchemaV001: VersionedSchema {
  static var models: [any PersistentModel.Type] = [Album.self]
  static var versionIdentifier: Schema.Version = .init(0, 0, 1)

  @Model
  final class Album: Sendable {
    @Attribute(.unique) var url: URL
    var id: AlbumID

    init(url: URL, id: AlbumID) {
      self.url = url
      self.id = id
    }
  }

  enum AlbumID: Codable, Hashable {
    case int(Int)
    case string(String)
    case none
  }
}

struct AlbumSchemaV002: VersionedSchema {
  static var models: [any PersistentModel.Type] = [Album.self]
  static var versionIdentifier: Schema.Version = .init(0, 0, 2)

  @Model
  final class Album {
    @Attribute(.unique) var url: URL
    var count: Int?

    init(url: URL, count: Int?) {
      self.url = url
      self.count = count
    }
  }
}

typealias Album = AlbumSchemaV002.Album

struct AlbumMigrationPlan: SchemaMigrationPlan {
  static var schemas: [VersionedSchema.Type] = [
    AlbumSchemaV001.self,
    AlbumSchemaV002.self,
  ]
  static var stages: [MigrationStage] = [
    stageV1ToV2
  ]

  static var numbers: [URL: Int] = [:]

  static let stageV1ToV2 = MigrationStage.custom(
    fromVersion: AlbumSchemaV001.self, toVersion: AlbumSchemaV002.self,
    willMigrate: { context in
      let albums = try? context.fetch(FetchDescriptor<AlbumSchemaV001.Album>())
      albums?.forEach { album in
        if case .int(let number) = album.id { AlbumMigrationPlan.numbers[album.url] = number }
      }
    }
  ) { context in
    let albums = try context.fetch(FetchDescriptor<Album>())
    albums.forEach { $0.count = AlbumMigrationPlan.numbers[$0.url] }
    try? context.save()
  }
}

@Suite struct AlbumMigrationTests {
  @Test func `a plan in variables migrates`() throws {
    let directory = try TemporaryDirectory()
    let configuration = ModelConfiguration(url: directory.file("albums.store"))
    let one = try #require(URL(string: "https://example.org/1"))
    let two = try #require(URL(string: "https://example.org/2"))
    do {
      let container = try ModelContainer(
        for: AlbumSchemaV001.Album.self, configurations: configuration)
      let context = ModelContext(container)
      context.insert(AlbumSchemaV001.Album(url: one, id: .int(7)))
      context.insert(AlbumSchemaV001.Album(url: two, id: .string("x")))
      try context.save()
    }
    for _ in 1...2 {
      let container = try ModelContainer(
        for: Album.self, migrationPlan: AlbumMigrationPlan.self, configurations: configuration)
      let albums = try ModelContext(container).fetch(FetchDescriptor<Album>())
        .sorted { $0.url.absoluteString < $1.url.absoluteString }
      #expect(albums.map(\.url) == [one, two])
      #expect(albums.map(\.count) == [7, nil])
    }
  }
}
