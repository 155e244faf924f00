import Foundation
import RecordsTestSupport
import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing

struct Emblem: Codable {
  enum Kind: String, Codable { case gold, iron }

  var kind: Kind
}

/// A value that cannot be encoded while it is too long.
struct Motto: Codable {
  var text: String

  init(_ text: String) { self.text = text }

  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    guard text.count < 20 else {
      throw EncodingError.invalidValue(
        text, .init(codingPath: [], debugDescription: "“\(text)” is too long"))
    }
    try container.encode(text)
  }
}

@Model final class Knight {
  @Attribute(.codable) var emblem: Emblem
  @Attribute(.codable) var motto: Motto
  @Attribute(.externalStorage) var portrait: Data?

  init(motto: String = "", portrait: Data? = nil) {
    emblem = Emblem(kind: .gold)
    self.motto = Motto(motto)
    self.portrait = portrait
  }
}

/// Values that don't encode or decode, and files that can't be written.
@Suite("Values that fail") struct CodingErrorTests {
  /// Foundation's own description of such an error quotes what was read.
  @Test func `an error doesn't quote what it could not decode`() throws {
    let store = try TestStore(.file, Knight.self)
    let context = store.context()
    context.insert(Knight())
    try context.save()
    try SQLiteConnection.foreign(store.url).execute(
      #"UPDATE Knight SET emblem = replace(emblem, 'gold', 'secret-word')"#)
    let error = try #require(throws: SwiftDataError.self) {
      _ = try store.reopened().only(Knight.self).emblem
    }
    #expect(error.code == .unreadableValue)
    #expect("\(error.cause as Any)".contains("secret-word"))
    for text in [error.description, error.localizedDescription, error.failureReason] {
      #expect(text?.contains("secret-word") == false)
    }
    #expect(error.description.hasSuffix("(A value has a form that its type does not read.)"))
  }

  @Test func `a value that can't be encoded fails the save, and keeps the change`() throws {
    let store = try TestStore(.file, Knight.self)
    let context = store.context()
    let knight = Knight(motto: "a motto that is much too long")
    context.insert(knight)
    let error = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect(error.code == .modelValidationFailure)
    #expect(error.message.hasPrefix("The value of Knight.motto cannot be encoded"))
    #expect(!error.description.contains("much too long"))
    #expect(context.hasChanges)
    knight.motto = Motto("short")
    try context.save()
    #expect(try store.reopened().only(Knight.self).motto.text == "short")
  }

  @Test(.needs(.smallDisk))
  func `a full disk for a large value is a full disk`() throws {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let url = disk.directory.file("full.store")
    let container = try ModelContainer(
      for: Knight.self, configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    context.insert(Knight())
    try context.save()
    try disk.fill(leaving: 64 * 1024)
    context.insert(Knight(portrait: Data(repeating: 7, count: 300_000)))
    #expect(throws: SwiftDataError.storageFull) { try context.save() }
    #expect(context.hasChanges)
    try disk.empty()
    try context.save()
    #expect(try ModelContext(container).count(Knight.self) == 2)
  }
}
