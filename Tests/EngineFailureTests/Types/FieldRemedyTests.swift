import SteadTestSupport
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

/// One property, in which each row has its parts in another place.
private enum Scattered {
  struct Places: Codable, Equatable {
    var home: Whole.Part?
    var box = Whole.Box()
    var past: [Whole.Part] = []
  }

  @Model final class Depot {
    var places = Places()
    init() {}
  }
}

/// The parts have gained a field.
private enum Changed {
  struct Places: Codable, Equatable {
    var home: Split.Part?
    var box = Split.Box()
    var past: [Split.Part] = []
  }

  @Model final class Depot {
    var places = Places()
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
    let start = try #require(error.message.range(of: "Crate.\(property) has"))
    let rest = error.message[start.upperBound...]
    let sentences = rest.range(of: "Crate.").map { rest[..<$0.lowerBound] } ?? rest
    #expect(sentences.contains("lack its field \(field): 1. \(remedy)"), "\(sentences)")
    #expect(!error.message.contains("secret"))
  }

  /// Rows with an array counted among those that a default value mends, if the first row was one of these: a second
  /// attempt told of them.
  @Test(arguments: 0..<8) func `each field has its own rows and remedy`(seed: UInt64) throws {
    let fields = ["home.code", "box.part.code", "past.[0].code"]
    var random = SplitMix(seed: 300 + seed)
    var rows: [String: [Int]] = [:]
    let file = try RecordsTestSupport.StoreFile()
    let context = ModelContext(try file.open(Scattered.Depot.self))
    for row in 1...12 {
      let field = fields.randomElement(using: &random) ?? ""
      rows[field, default: []].append(row)
      let depot = Scattered.Depot()
      switch field {
      case fields[0]: depot.places.home = Whole.Part(size: row)
      case fields[1]: depot.places.box.part = Whole.Part(size: row)
      default: depot.places.past = (0...row % 3).map { Whole.Part(size: row + $0 * 100) }
      }
      context.insert(depot)
      try context.save()
    }
    let error = try #require(throws: SwiftDataError.self) { try file.open(Changed.Depot.self) }
    for field in fields {
      let found = rows[field] ?? []
      let named = found.prefix(3).map(String.init).joined(separator: ", ")
      let more = found.count > 3 ? " and \(found.count - 3) more" : ""
      let remedy =
        field == fields[2]
        ? "Make the field optional or" : "Give the property's default value the field"
      let sentence = "lack its field \(field): \(named)\(more). \(remedy)"
      #expect(
        error.message.ranges(of: sentence).count == (found.isEmpty ? 0 : 1),
        "\(sentence): \(error.message)")
    }
    #expect(error.message.ranges(of: "lack its field").count == rows.count)
  }

  @Test func `the remedies work`() throws {
    let crate = try ModelContext(file.open(Mended.Crate.self)).only(Mended.Crate.self)
    #expect(crate.bare == Mended.Part(code: 7) && crate.box.part == Mended.Part(code: 8))
    let loose = Mended.Loose()
    #expect(crate.list == [loose] && crate.named == ["secret": loose])
    #expect(crate.shelf.parts == [loose])
  }
}
