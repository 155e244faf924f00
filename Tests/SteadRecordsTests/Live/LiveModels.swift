import Foundation
import SwiftData

@Model final class Headline {
  @Attribute(.spotlight) var title: String
  @Attribute(.spotlight) var body: String
  var topic: String
  var words: Int
  @Attribute(.externalStorage) var picture: Data?

  init(title: String, body: String = "", topic: String = "none", words: Int = 0) {
    self.title = title
    self.body = body
    self.topic = topic
    self.words = words
  }
}

@Model final class Unrelated {
  var number: Int
  init(number: Int) { self.number = number }
}

/// A store in a directory of its own, removed with the value.
final class TemporaryStore {
  let directory: URL
  var url: URL { directory.appendingPathComponent("test.store") }

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "stead-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  func open(_ types: any PersistentModel.Type...) throws -> ModelContainer {
    try ModelContainer(for: Schema(types), configurations: ModelConfiguration(url: url))
  }
}
