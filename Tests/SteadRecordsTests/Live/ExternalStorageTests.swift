import Foundation
import SwiftData
import Testing

@Suite struct ExternalStorageTests {
  private let store: StoreFile
  private let container: ModelContainer

  init() throws {
    store = try StoreFile()
    container = try store.open(Headline.self)
  }

  private func files() throws -> [String] {
    let directory = store.directory.appendingPathComponent(".test.store_external")
    guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter {
      var isDirectory: ObjCBool = false
      let path = directory.appendingPathComponent($0).path
      return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        && !isDirectory.boolValue
    }
  }

  private func save(_ picture: Data) throws -> ModelContext {
    let context = ModelContext(container)
    let headline = Headline(title: "picture")
    headline.picture = picture
    context.insert(headline)
    try context.save()
    return context
  }

  @Test func `large data lies in a file of its own and comes back`() throws {
    let picture = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    _ = try save(picture)
    #expect(try files().count == 1)
    let reread = try ModelContext(container).fetch(FetchDescriptor<Headline>())
    #expect(reread.first?.picture == picture)
  }

  @Test func `small data lies in its row`() throws {
    _ = try save(Data(repeating: 7, count: 1_000))
    #expect(try files().isEmpty)
    let reread = try ModelContext(container).fetch(FetchDescriptor<Headline>())
    #expect(reread.first?.picture == Data(repeating: 7, count: 1_000))
  }

  @Test func `a file goes with the last row that refers to it`() throws {
    let picture = Data(repeating: 1, count: 200_000)
    let context = try save(picture)
    let twin = Headline(title: "twin")
    twin.picture = picture
    context.insert(twin)
    try context.save()
    #expect(try files().count == 1)
    context.delete(twin)
    try context.save()
    #expect(try files().count == 1)
    let first = try #require(try context.fetch(FetchDescriptor<Headline>()).first)
    #expect(first.picture == picture)
    first.picture = nil
    try context.save()
    #expect(try files().isEmpty)
  }
}
