import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// What a container finds in a sound store that isn't, or isn't only, its own.
@Suite struct OtherModelsTests {
  enum Plain {
    @Model final class Photo {
      var title: String

      init(title: String) { self.title = title }
    }
  }

  enum Sized {
    @Model final class Photo {
      var title: String
      var size: Int?
      @Attribute(.externalStorage) var pixels: Data?

      init(title: String) { self.title = title }
    }
  }

  private let url: URL

  init() throws { url = try TestFiles.directory().file("test.store") }

  private func open(
    _ type: any PersistentModel.Type, allowsSave: Bool = true
  ) throws -> ModelContainer {
    try ModelContainer(
      for: type, configurations: ModelConfiguration(url: url, allowsSave: allowsSave))
  }

  // It called the columns that the migration had removed damage, and recommended a backup.
  @Test func `a check after a migration names the other models alone`() throws {
    let container = try open(Sized.Photo.self)
    _ = try open(Plain.Photo.self)
    let problems = try container.check().problems
    #expect(!problems.isEmpty)
    #expect(problems.allSatisfy { $0.kind == .differentModels }, "\(problems)")
    // One that another program has removed since is.
    try StoreFile(ModelConfiguration(url: url)).open(writable: true).execute(
      "ALTER TABLE Photo RENAME COLUMN title TO name")
    #expect(try container.check().problems.map(\.kind).contains(.missingColumn))
  }

  // The error recommended a new container, which failed likewise.
  @Test func `a container that only reads an older store says how it is migrated`() throws {
    _ = try open(Plain.Photo.self)
    func count() throws -> Int {
      try ModelContext(open(Sized.Photo.self, allowsSave: false)).fetch(
        FetchDescriptor<Sized.Photo>()
      ).count
    }
    let error = try #require(throws: SwiftDataError.self) { try count() }
    #expect(error.code == .unknownSchema)
    #expect(error.message.contains("open it for writing first"))
    _ = try open(Sized.Photo.self)
    #expect(try count() == 0)
  }

  // It reported the files of later rows as unused.
  @Test func `a copy of the past is sound`() throws {
    let container = try ModelContainer(
      for: Sized.Photo.self, configurations: ModelConfiguration(url: url, history: .withOldValues))
    let context = ModelContext(container)
    for number in 1...2 {
      let photo = Sized.Photo(title: "\(number)")
      photo.pixels = Data(repeating: UInt8(number), count: 200_000)
      context.insert(photo)
      try context.save()
    }
    let first = try #require(
      context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first)
    #expect(try container.asOf(first.token).check().problems.isEmpty)
  }
}
