import Foundation
import SwiftData
import Testing

enum Stage: String, Codable { case open, done }

struct Postal: Codable, Hashable {
  var city = "Bergen"
  static let home = Postal(city: "Oslo")
}

private enum Defaults {
  static let name = "name"
  static var list: [String] { ["a", "b"] }
}

@Model final class DefaultShape {
  var date: Date = Date.now
  var shortDate: Date = .now
  var inferredDate = Date()
  var identifier: UUID = .init()
  var inferredIdentifier = UUID()
  var name: String = Defaults.name
  var inferredName = Defaults.name
  var list: [String] = Defaults.list
  var stage: Stage = Stage.open
  var inferredStage = Stage.done
  var optionalStage: Stage? = Stage.done
  var noStage: Stage?
  var stages: [Stage] = [.open]
  var postal: Postal = Postal(city: "x")
  var shortPostal: Postal = .home
  var inferredPostal = Postal()
  var noPostal: Postal? = nil
  var numbers: [Int] = []
  var inferredNumbers = [1, 2]
  var counts: [String: Int] = [:]
  var optional: Int? = 5
  var double: Double = 1
  var inferredDouble = 1.5
  var closure: Int = { 5 * 5 }()
  var spelledOptional: Optional<String> = nil
  var unwrapped: String!
  var parenthesized: (Int)? = nil
  var flag = true
  var own = DefaultShape.ownDefault

  private static let ownDefault = 9

  init() {}
}

/// Properties with and without a type, with every kind of initial value.
@Suite struct DefaultShapes {
  @Test func `initial values are stored and read`() throws {
    let model = DefaultShape()
    try reread(model) { twin in
      #expect(twin.date == model.date)
      #expect(twin.inferredDate == model.inferredDate)
      #expect(twin.identifier == model.identifier)
      #expect(twin.inferredIdentifier == model.inferredIdentifier)
      #expect(twin.name == "name" && twin.inferredName == "name" && twin.list == ["a", "b"])
      #expect(twin.stage == .open && twin.inferredStage == .done)
      #expect(twin.optionalStage == .done && twin.noStage == nil && twin.stages == [.open])
      #expect(twin.postal.city == "x" && twin.shortPostal == .home)
      #expect(twin.inferredPostal.city == "Bergen" && twin.noPostal == nil)
      #expect(twin.inferredNumbers == [1, 2] && twin.counts.isEmpty)
      #expect(twin.optional == 5 && twin.closure == 25 && twin.own == 9)
      #expect(twin.spelledOptional == nil && twin.unwrapped == nil && twin.parenthesized == nil)
      #expect(twin.flag && twin.double == 1 && twin.inferredDouble == 1.5)
    }
  }

  @Test func `changed values are stored and read`() throws {
    let model = DefaultShape()
    model.unwrapped = "now"
    model.parenthesized = 4
    model.noStage = .open
    model.noPostal = .home
    model.counts["a"] = 1
    model.numbers.append(3)
    try reread(model) { twin in
      #expect(twin.unwrapped == "now" && twin.parenthesized == 4 && twin.noStage == .open)
      #expect(twin.noPostal == .home && twin.counts == ["a": 1] && twin.numbers == [3])
    }
  }

  @Test func `the schema knows the initial values`() {
    let defaults = Dictionary(
      uniqueKeysWithValues: DefaultShape.schemaMetadata.map { ($0.name, $0.defaultValue) })
    #expect(defaults["name"] as? String == "name")
    #expect(defaults["numbers"] as? [Int] == [])
    #expect(defaults["shortPostal"] as? Postal == .home)
    #expect(defaults["double"] as? Double == 1)
    #expect(defaults["optional"] as? Int == 5)
    #expect(defaults["date"] as? Date != nil)
  }
}
