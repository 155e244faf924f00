import Foundation
import SteadEncoding
import SwiftData
import Testing

@testable import SteadRecords

/// Another store was moved to the path of one that was open, as when a backup is put in its place. The open container looked for
/// unused large values by its own rows, but in the directory at the path, and removed those of the other store. Only then did it
/// notice, and said that nothing was written.
@Suite("A container whose store was replaced by another one") struct ReplacedStoreTests {
  enum Work: CaseIterable {
    case compact, erase, removeFiles, trimHistory, setReader, removeReader, deleteHistory, restore
    case save, transaction, write, backUp

    func run(_ container: ModelContainer, _ context: ModelContext, _ reference: String) throws {
      let store = container.stores[0]
      switch self {
      case .compact: try container.compact()
      case .erase: try container.erase()
      case .removeFiles:
        store.removeFiles([reference])
        throw store.file.displacement  // It is only reported.
      case .trimHistory: try container.trimHistory()
      case .setReader: try container.setHistoryReader("reader", at: nil)
      case .removeReader: try container.removeHistoryReader("reader")
      case .deleteHistory:
        try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      case .restore: _ = try store.restore(to: 1, author: nil)
      case .save:
        context.insert(Headline.with(5))
        try context.save()
      case .transaction: try context.transaction { context.insert(Headline.with(5)) }
      case .write: try store.write { try $0.execute("DELETE FROM Headline") }
      case .backUp:
        try container.backUp(to: URL(filePath: store.configuration.url.path + ".copy"))
      }
    }
  }

  private func open(_ url: URL) throws -> ModelContainer {
    var configuration = ModelConfiguration(url: url)
    configuration.historyLimits.transactions = 1
    return try ModelContainer(for: Headline.self, configurations: configuration)
  }

  /// A closed store with large values, of which two stores may share some.
  private func make(_ url: URL, _ numbers: ClosedRange<Int>) throws {
    let context = ModelContext(try open(url))
    for number in numbers {
      context.insert(Headline.with(number))
      try context.save()
    }
  }

  @Test(arguments: Work.allCases)
  func `it leaves the other store as it is`(work: Work) throws {
    let store = try RecordsTestSupport.StoreFile()
    let other = try RecordsTestSupport.StoreFile()
    try make(store.url, 1...2)
    try make(other.url, 2...4)
    let container = try open(store.url)
    let context = ModelContext(container)
    try #require(context.all(Headline.self).count == 2)
    let shared = SHA256.hexadecimal(try #require(Headline.with(2).picture))
    let files = FileManager.default
    for name in try files.contentsOfDirectory(atPath: store.directory.path) {
      try files.moveItem(at: store.directory.file(name), to: store.directory.file("old-" + name))
    }
    for name in try files.contentsOfDirectory(atPath: other.directory.path) {
      try files.moveItem(at: other.directory.file(name), to: store.directory.file(name))
    }
    let before = try MovedStoreTests.files(of: store)
    let error = #expect(throws: SwiftDataError.self) { try work.run(container, context, shared) }
    #expect(
      error?.message.contains("was removed, replaced or moved away") == true, "\(error as Any)")
    #expect(try MovedStoreTests.files(of: store) == before)
    let new = try open(store.url)
    let headlines = try ModelContext(new).all(Headline.self)
    #expect(headlines.map(\.title).sorted() == ["2", "3", "4"])
    #expect(headlines.allSatisfy { $0.picture == Headline.with(Int($0.title) ?? 0).picture })
    #expect(try new.check().problems.isEmpty)
  }
}

extension Headline {
  /// One with a large value that follows from its number.
  fileprivate static func with(_ number: Int) -> Headline {
    let headline = Headline(title: "\(number)")
    headline.picture = Data(repeating: UInt8(number), count: 200_000)
    return headline
  }
}
