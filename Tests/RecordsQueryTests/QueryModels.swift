import Foundation
import SwiftData

enum Mood: String, Codable, CaseIterable, Sendable {
  case calm, glad, wild
}

enum Rank: Int, Codable, Comparable, CaseIterable, Sendable {
  case low = 10
  case middle = 20
  case high = 30
  static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
}

struct Place: Codable, Hashable {
  var city: String
  var zip: Int?
  var height: Double
}

/// One property of every kind that predicates reach.
@Model final class Sample {
  var number: Int
  var text: String
  var optionalNumber: Int?
  var optionalText: String?
  var flag: Bool
  var real: Double
  var optionalReal: Double?
  var date: Date
  var optionalDate: Date?
  var uuid: UUID
  var small: Int16
  var unsigned: UInt64
  var decimal: Decimal
  var mood: Mood
  var optionalMood: Mood?
  var rank: Rank
  var tags: [String]
  var numbers: [Int]
  var optionalNumbers: [Int]?
  var place: Place
  var link: URL?
  var data: Data
  var parent: Sample?
  @Relationship(inverse: \Sample.parent) var children: [Sample] = []
  @Relationship(inverse: \Label.samples) var labels: [Label] = []
  var shout: String { text.uppercased() }

  init(
    number: Int = 0, text: String = "", optionalNumber: Int? = nil, optionalText: String? = nil,
    flag: Bool = false, real: Double = 0, optionalReal: Double? = nil,
    date: Date = Date(timeIntervalSinceReferenceDate: 0), optionalDate: Date? = nil,
    uuid: UUID = UUID(), small: Int16 = 0, unsigned: UInt64 = 0, decimal: Decimal = 0,
    mood: Mood = .calm, optionalMood: Mood? = nil, rank: Rank = .low, tags: [String] = [],
    numbers: [Int] = [], place: Place = Place(city: "", zip: nil, height: 0), link: URL? = nil,
    data: Data = Data()
  ) {
    self.number = number
    self.text = text
    self.optionalNumber = optionalNumber
    self.optionalText = optionalText
    self.flag = flag
    self.real = real
    self.optionalReal = optionalReal
    self.date = date
    self.optionalDate = optionalDate
    self.uuid = uuid
    self.small = small
    self.unsigned = unsigned
    self.decimal = decimal
    self.mood = mood
    self.optionalMood = optionalMood
    self.rank = rank
    self.tags = tags
    self.numbers = numbers
    self.place = place
    self.link = link
    self.data = data
  }
}

@Model final class Label {
  var name: String
  var weight: Int
  var samples: [Sample] = []

  init(name: String, weight: Int) {
    self.name = name
    self.weight = weight
  }
}

@Model class Animal {
  var name: String
  init(name: String) { self.name = name }
}

@Model final class Dog: Animal {
  var tricks: Int
  init(name: String, tricks: Int) {
    self.tricks = tricks
    super.init(name: name)
  }
}

/// A store in memory with some samples, and the samples.
struct SampleStore {
  let container: ModelContainer
  let context: ModelContext
  let samples: [Sample]
  let labels: [Label]

  init(_ samples: [Sample], labels: [Label] = []) throws {
    container = try ModelContainer(
      for: Sample.self, Label.self, Animal.self, Dog.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(container)
    for sample in samples { context.insert(sample) }
    for label in labels { context.insert(label) }
    try context.save()
    self.samples = samples
    self.labels = labels
  }
}
