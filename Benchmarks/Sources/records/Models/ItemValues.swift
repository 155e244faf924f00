import BenchmarkHarness
import Foundation

/// How much something matters; stored by its raw value.
enum Kind: Int, Codable, CaseIterable {
  case task, note, link
}

/// The values of one row of ten columns, made before anything is timed.
struct ItemValues {
  /// Longer than the 15 bytes that Swift keeps in the string itself.
  let title: String
  /// Short enough to need no memory of its own.
  let code: String
  let rank: Int
  let serial: Int64
  let price: Double
  let isActive: Bool
  let createdAt: Date
  let note: String?
  let quantity: Int?
  let kind: Kind

  /// How many values of `rank` there are.
  static let rankCount = 1_000

  init(_ number: Int) {
    // The golden ratio spreads numbers without a random generator, so all runs see the same rows.
    let spread = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
    title = "Item number \(number) of a long list"
    code = "C\(number % 100_000)"
    rank = number % Self.rankCount
    serial = Int64(number) &* 1_000_003
    price = Double(spread >> 40) / 100
    isActive = number.isMultiple(of: 2)
    createdAt = Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(number) * 1.25)
    note = number.isMultiple(of: 2) ? nil : "A remark on item \(number)"
    quantity = number.isMultiple(of: 3) ? nil : number % 50
    kind = Kind.allCases[number % Kind.allCases.count]
  }

  static func make(_ count: Int) -> [ItemValues] { (1...count).map { ItemValues($0) } }
}
