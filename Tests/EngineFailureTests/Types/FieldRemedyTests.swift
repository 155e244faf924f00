import SwiftData
import Testing

@testable import SteadRecords

private enum Whole {
  struct Part: Codable, Equatable { var size = 1 }
  struct Box: Codable, Equatable { var part: Part? }
  struct Shelf: Codable, Equatable { var parts: [Part] = [] }

  @Model final class Crate {
    var bare: Part
    var list: [Part] = []
    var named: [String: Part] = [:]
    var box = Box()
    var shelf = Shelf()

    init() {
      bare = Part()
      list = [Part()]
      named = ["secret": Part()]
      box.part = Part()
      shelf.parts = [Part()]
    }
  }
}

/// The part has gained a field that no value has.
private enum Split {
  struct Part: Codable, Equatable {
    var size = 1
    var code: Int
  }
  struct Box: Codable, Equatable { var part: Part? }
  struct Shelf: Codable, Equatable { var parts: [Part] = [] }

  @Model final class Crate {
    var bare: Part
    var list: [Part] = []
    var named: [String: Part] = [:]
    var box = Box()
    var shelf = Shelf()
    init(bare: Part) { self.bare = bare }
  }
}

/// What the errors about ``Split`` say to do is done.
private enum Mended {
  typealias Part = Split.Part

  struct Loose: Codable, Equatable {
    var size = 1
    var code: Int?
  }
  struct Box: Codable, Equatable { var part: Part? = Part(code: 8) }
  struct Shelf: Codable, Equatable { var parts: [Loose] = [] }

  @Model final class Crate {
    var bare = Part(code: 7)
    var list: [Loose] = []
    var named: [String: Loose] = [:]
    var box = Box()
    var shelf = Shelf()
    init() {}
  }
}

/// What an error says to do about a field that values lack.
///
/// It said to give the property a default value also for elements of arrays, which get nothing from it, and where the
/// property had one.
@Suite("remedies for fields that values lack") struct FieldRemedyTests {
  private let file: RecordsTestSupport.StoreFile

  init() throws {
    file = try RecordsTestSupport.StoreFile()
    let context = ModelContext(try file.open(Whole.Crate.self))
    context.insert(Whole.Crate())
    try context.save()
  }

  @Test(
    arguments: [
      ("bare", "code", "Give the property a default value, whose fields they then get"),
      ("box", "part.code", "Give the property's default value the field, which they then get"),
      ("list", "[0].code", "Make the field optional or"),
      ("named", "….code", "Make the field optional or"),
      ("shelf", "parts.[0].code", "Make the field optional or"),
    ])
  func `a default value is a remedy only for what it has fields for`(
    property: String, field: String, remedy: String
  ) throws {
    let error = try #require(throws: SwiftDataError.self) { try file.open(Split.Crate.self) }
    let start = try #require(error.message.range(of: "Crate.\(property) is"))
    let rest = error.message[start.upperBound...]
    let sentences = rest.range(of: "Crate.").map { rest[..<$0.lowerBound] } ?? rest
    #expect(sentences.contains("lack its field \(field): 1. \(remedy)"), "\(sentences)")
    #expect(!error.message.contains("secret"))
  }

  @Test func `the remedies work`() throws {
    let crate = try ModelContext(file.open(Mended.Crate.self)).only(Mended.Crate.self)
    #expect(crate.bare == Mended.Part(code: 7) && crate.box.part == Mended.Part(code: 8))
    let loose = Mended.Loose()
    #expect(crate.list == [loose] && crate.named == ["secret": loose])
    #expect(crate.shelf.parts == [loose])
  }
}
