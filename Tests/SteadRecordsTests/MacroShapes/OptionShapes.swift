import Foundation
import SwiftData
import Testing

@Model final class OptionShape {
  #Unique<OptionShape>([\.first, \.second], [\.key])
  #Index<OptionShape>([\.first], [\.second, \.key])
  #Index<OptionShape>(.binary([\.number]), .rtree([\.number, \.key]))
  @Attribute(.unique, originalName: "identifier") var key: Int
  @Attribute(.externalStorage) var file: Data?
  @Attribute(.externalStorage) var requiredFile = Data()
  @Attribute(.codable) var opaque: Postal = Postal.home
  @Attribute(.codable) var inferredOpaque = Postal()
  @Attribute(originalName: "old", hashModifier: "2") var first: String
  @Attribute(
    .spotlight, .preserveValueOnDeletion
  ) var second: String = ""
  @SwiftData.Attribute(.ephemeral) var number: Int = 0
  @Relationship(.unique, deleteRule: .nullify, maximumModelCount: 1, inverse: \OptionShape.next)
  var previous: OptionShape?
  var next: OptionShape?
  @Relationship var friends: [OptionShape] = []
  @Relationship(deleteRule: .deny) var rivals: [OptionShape]?

  init(key: Int, first: String) {
    self.key = key
    self.first = first
  }
}

/// Attributes with options and relationships with rules.
@Suite struct OptionShapes {
  @Test func `options reach the schema`() throws {
    let metadata = Dictionary(
      uniqueKeysWithValues: OptionShape.schemaMetadata.map { ($0.name, $0.metadata) })
    let key = try #require(metadata["key"] as? Schema.Attribute)
    #expect(key.options == [.unique] && key.originalName == "identifier")
    let second = try #require(metadata["second"] as? Schema.Attribute)
    #expect(second.options == [.spotlight, .preserveValueOnDeletion])
    let number = try #require(metadata["number"] as? Schema.Attribute)
    #expect(number.options == [.ephemeral])
    let previous = try #require(metadata["previous"] as? Schema.Relationship)
    #expect(previous.inverseKeyPath == \OptionShape.next)
    #expect(previous.maximumModelCount == 1)
    let rivals = try #require(metadata["rivals"] as? Schema.Relationship)
    #expect(rivals.deleteRule == .deny)
    let unique = try #require(metadata["_$unique0"] as? Schema.Unique<OptionShape>)
    #expect(unique.constraints == [[\.first, \.second], [\.key]])
    let index = try #require(metadata["_$index0"] as? Schema.Index<OptionShape>)
    #expect(index.indices.count == 2)
    #expect(metadata["_$index1"] as? Schema.Index<OptionShape> != nil)
  }

  @Test func `values with options are stored`() throws {
    let model = OptionShape(key: 4, first: "first")
    model.file = Data([1, 2])
    model.requiredFile = Data(repeating: 7, count: 300_000)
    model.opaque.city = "Lima"
    try reread(model) { twin in
      #expect(twin.key == 4 && twin.first == "first")
      #expect(twin.file == Data([1, 2]))
      #expect(twin.requiredFile == Data(repeating: 7, count: 300_000))
      #expect(twin.opaque.city == "Lima" && twin.inferredOpaque.city == "Bergen")
    }
  }
}
