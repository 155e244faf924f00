import Foundation
import SwiftData

enum Mood: String, Codable, CaseIterable { case calm, happy, angry }

enum Rank: Int, Codable, Comparable {
  case low = 1, middle = 5, high = 9

  static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
}

enum Shape: Codable, Equatable {
  case circle(radius: Double)
  case rectangle(width: Double, height: Double)
  case unit
}

enum Either<First: Codable & Equatable, Second: Codable & Equatable>: Codable, Equatable {
  case first(First)
  case second(Second)
}

struct Point: Codable, Equatable {
  var x: Double
  var y: Double
}

struct Address: Codable, Equatable {
  enum Kind: String, Codable { case home, work }

  var street: String
  var city: String
  var number: Int?
  var note: String?
  var kind = Kind.home
  var place: Point?
}

struct Flags: OptionSet, Codable {
  let rawValue: Int
  static let read = Flags(rawValue: 1)
  static let starred = Flags(rawValue: 2)
}

final class Preferences: Codable {
  var theme: String
  var sizes: [Int]

  init(theme: String, sizes: [Int]) {
    self.theme = theme
    self.sizes = sizes
  }
}

/// Every scalar type, with the extremes that a column could lose.
@Model final class Scalars {
  var text: String
  var flag: Bool
  var int: Int
  var int8: Int8
  var int16: Int16
  var int32: Int32
  var int64: Int64
  var uint8: UInt8
  var uint16: UInt16
  var uint32: UInt32
  var uint64: UInt64
  var float: Float
  var double: Double
  var decimal: Decimal
  var date: Date
  var data: Data
  var uuid: UUID
  var url: URL
  var cgFloat: CGFloat

  init(_ values: ScalarValues) {
    text = values.text
    flag = values.flag
    int = values.int
    int8 = .min
    int16 = .max
    int32 = .min
    int64 = values.int64
    uint8 = .max
    uint16 = .max
    uint32 = .max
    uint64 = values.uint64
    float = values.float
    double = values.double
    decimal = values.decimal
    date = values.date
    data = values.data
    uuid = values.uuid
    url = values.url
    cgFloat = CGFloat(values.double)
  }
}

struct ScalarValues {
  var text = "text"
  var flag = true
  var int = Int.max
  var int64 = Int64.min
  var uint64 = UInt64.max
  var float = Float.greatestFiniteMagnitude
  var double = Double.pi
  var decimal = Decimal(string: "18446744073709551615.0001") ?? 0
  var date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7)
  var data = Data([0, 1, 0, 255])
  var uuid = UUID()
  var url = URL(filePath: "/")
}

/// The same types, optional.
@Model final class Optionals {
  var text: String?
  var flag: Bool?
  var int: Int?
  var uint64: UInt64?
  var double: Double?
  var float: Float?
  var decimal: Decimal?
  var date: Date?
  var data: Data?
  var uuid: UUID?
  var url: URL?
  var mood: Mood?
  var shape: Shape?
  var address: Address?
  var numbers: [Int]?
  var maybe: [Int?]

  init() { maybe = [] }
}

/// Collections, enums and structs.
@Model final class Composites {
  var mood: Mood
  var rank = Rank.middle
  var shape: Shape
  var either: Either<Int, String>
  var address: Address
  var preferences: Preferences
  var flags: Flags = []
  var tags: [String]
  var numbers: [Int] = []
  var doubles: [Double] = []
  var dates: [Date] = []
  var moods: [Mood] = []
  var places: [Point] = []
  var maybes: [String?] = []
  var byName: [String: Int] = [:]
  var unique: Set<Int> = []

  init(
    mood: Mood = .calm, shape: Shape = .unit, either: Either<Int, String> = .first(0),
    address: Address = Address(street: "Main", city: "Bern"), tags: [String] = []
  ) {
    self.mood = mood
    self.shape = shape
    self.either = either
    self.address = address
    self.tags = tags
    preferences = Preferences(theme: "dark", sizes: [1, 2])
  }
}

/// Decimals in JSON.
@Model final class Prices {
  var values: [Decimal]

  init(_ values: [Decimal]) { self.values = values }
}

/// Options of attributes.
@Model final class Picture {
  var title: String
  @Attribute(.externalStorage) var image: Data?
  @Attribute(.externalStorage) var thumbnail = Data()
  @Attribute(.ephemeral) var viewCount = 0
  @Attribute(.preserveValueOnDeletion) var serial: String = "none"
  @Attribute(.allowsCloudEncryption) var secret: String = ""
  @Attribute(.codable) var detail: Point = Point(x: 0, y: 0)
  @Attribute(originalName: "caption_text") var caption: String = ""
  @Transient var isOpen = false
  @Transient var cached: [Int] = [1, 2, 3]
  @Transient var description: String { "Picture \(title)" }

  init(title: String, image: Data? = nil) {
    self.title = title
    self.image = image
  }
}

/// InitialValues that are expressions.
@Model final class InitialValues {
  static let standardName = "standard"

  var id = UUID()
  var created = Date()
  var name: String = InitialValues.standardName
  var limit = 10 * 2
  var mood: Mood = Mood.happy
  var tags: [String] = ["new"]
  var point: Point = .init(x: 1, y: 2)
  var optional: Int? = 3
  let kind = "constant"
  private(set) var revision = 0
  var counter: Int = 0 {
    didSet { revision += 1 }
  }

  init() {}

  func touch() { revision += 10 }
}
