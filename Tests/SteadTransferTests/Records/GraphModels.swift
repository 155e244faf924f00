import Foundation
import SteadRecords
import SwiftData

/// One model with every kind of attribute.
@Model final class Sample {
  @Attribute(.unique) var name: String
  var flag = false
  var small: Int8 = 0
  var number = 0
  var large: UInt64 = 0
  var real: Double = 0
  var short: Float = 0
  var day: Date = Date(timeIntervalSinceReferenceDate: 0)
  var price: Decimal = 0
  var link: URL?
  var token: UUID?
  var bytes: Data = Data()
  @Attribute(.externalStorage) var image: Data?
  var mood: NoteMood = NoteMood.calm
  var otherMood: NoteMood?
  var size: NoteSize = NoteSize(width: 1, height: 2)
  var words: [String] = []
  var counts: [String: Int] = [:]
  @Attribute(.codable) var opaque: [Int]?
  @Attribute(.transformable(by: PointTransformer.self)) var point: NotePoint?

  init(name: String) { self.name = name }
}

struct NotePoint: Equatable {
  var x: UInt8
  var y: UInt8
}

final class PointTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { true }

  override func transformedValue(_ value: Any?) -> Any? {
    (value as? NotePoint).map { Data([$0.x, $0.y]) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data, data.count == 2 else { return nil }
    return NotePoint(x: data[data.startIndex], y: data[data.startIndex + 1])
  }
}

@Model class Asset {
  var title: String
  var shelf: Shelf?
  /// Without an inverse, and to its own kind.
  var related: [Asset] = []

  init(title: String) { self.title = title }
}

@Model final class Clip: Asset {
  var seconds: Double = 0

  init(title: String, seconds: Double) {
    self.seconds = seconds
    super.init(title: title)
  }
}

@Model final class Still: Asset {
  var cover: Cover?

  override init(title: String) { super.init(title: title) }
}

@Model final class Cover {
  var text: String
  @Relationship(inverse: \Still.cover) var still: Still?

  init(_ text: String) { self.text = text }
}

@Model final class Shelf {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Asset.shelf) var assets: [Asset] = []
  @Relationship(inverse: \Person.shelves) var owners: [Person] = []
  /// Without an inverse.
  var favourites: [Asset] = []

  init(_ name: String) { self.name = name }
}

@Model final class Person {
  var name: String
  var shelves: [Shelf] = []

  init(_ name: String) { self.name = name }
}

extension ModelContainer {
  static func library(at url: URL? = nil) throws -> ModelContainer {
    try ModelContainer(
      for: Sample.self, Asset.self, Clip.self, Still.self, Cover.self, Shelf.self, Person.self,
      configurations: url.map { ModelConfiguration(url: $0) }
        ?? ModelConfiguration(isStoredInMemoryOnly: true))
  }

  /// Shelves with their assets in an order that is not that of the rows, and people with theirs.
  func fillLibrary() throws {
    let context = ModelContext(self)
    let assets: [Asset] = [
      Clip(title: "a", seconds: 1.5), Still(title: "b"), Asset(title: "c"),
      Clip(title: "d", seconds: -0.0), Still(title: "e"),
    ]
    assets.forEach { context.insert($0) }
    let shelves = [Shelf("low"), Shelf("high")]
    shelves.forEach { context.insert($0) }
    let people = [Person("p"), Person("q"), Person("r")]
    people.forEach { context.insert($0) }
    try context.save()
    shelves[0].assets = [assets[3], assets[0], assets[4]]
    shelves[1].assets = [assets[1], assets[2]]
    shelves[0].owners = [people[2], people[0]]
    shelves[1].owners = [people[1], people[2], people[0]]
    people[2].shelves = [shelves[1], shelves[0]]
    shelves[1].favourites = [assets[4], assets[0]]
    assets[0].related = [assets[4], assets[1]]
    assets[2].related = [assets[0]]
    (assets[1] as? Still)?.cover = Cover("of b")
    try context.save()
  }

  /// All that the library holds, in words that do not depend on the rows' numbers.
  func describeLibrary() throws -> [String] {
    let context = ModelContext(self)
    var lines: [String] = []
    for asset in try context.fetch(FetchDescriptor<Asset>()) {
      let more =
        (asset as? Clip).map { "\($0.seconds)" } ?? (asset as? Still)?.cover.map { $0.text } ?? "-"
      lines.append(
        "\(type(of: asset)) \(asset.title) \(asset.shelf?.name ?? "-") \(more) "
          + "related \(asset.related.map(\.title).sorted())")
    }
    for shelf in try context.fetch(FetchDescriptor<Shelf>()) {
      lines.append(
        "shelf \(shelf.name) assets \(shelf.assets.map(\.title)) owners "
          + "\(shelf.owners.map(\.name)) favourites \(shelf.favourites.map(\.title))")
    }
    for person in try context.fetch(FetchDescriptor<Person>()) {
      lines.append("person \(person.name) shelves \(person.shelves.map(\.name))")
    }
    for cover in try context.fetch(FetchDescriptor<Cover>()) {
      lines.append("cover \(cover.text) of \(cover.still?.title ?? "-")")
    }
    return lines.sorted()
  }
}
