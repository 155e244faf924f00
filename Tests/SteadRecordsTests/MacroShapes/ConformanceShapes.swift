import Foundation
import SwiftData
import Testing

@Model final class CodableShape: Codable, Equatable, Identifiable {
  var id: UUID
  var name: String
  enum CodingKeys: CodingKey { case id, name }

  init(id: UUID, name: String) {
    self.id = id
    self.name = name
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(UUID.self, forKey: .id)
    name = try container.decode(String.self, forKey: .name)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
  }

  static func == (left: CodableShape, right: CodableShape) -> Bool { left.id == right.id }
}

@Model final class HashableShape: Hashable, CustomStringConvertible {
  var name: String
  init(name: String) { self.name = name }
  static func == (left: HashableShape, right: HashableShape) -> Bool { left.name == right.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
  var description: String { "shape \(name)" }
}

protocol Titled: AnyObject { var title: String { get set } }

@Model final class ProtocolShape: Titled {
  var title: String
  init(title: String) { self.title = title }
}

@Model final class ExtendedShape {
  var rank: Int
  init(rank: Int) { self.rank = rank }
}
extension ExtendedShape: Comparable {
  static func < (left: ExtendedShape, right: ExtendedShape) -> Bool { left.rank < right.rank }
}

/// A model's own conformances stand beside those that the macro adds.
@Suite struct ConformanceShapes {
  @Test func `a model may be Codable`() throws {
    let model = CodableShape(id: UUID(), name: "name")
    let copy = try JSONDecoder().decode(
      CodableShape.self, from: try JSONEncoder().encode(model))
    #expect(copy == model && copy !== model)
    #expect(copy.name == "name")
    try reread(copy) { twin in
      #expect(twin.id == model.id && twin.name == "name")
    }
  }

  @Test func `a model may have its own equality`() {
    let models: Set = [HashableShape(name: "a"), HashableShape(name: "a")]
    #expect(models.count == 1)
    #expect("\(HashableShape(name: "b"))" == "shape b")
  }

  @Test func `without equality of its own, a model equals itself`() {
    let model = ExtendedShape(rank: 1)
    #expect(model == model)
    #expect(model != ExtendedShape(rank: 1))
    #expect(model < ExtendedShape(rank: 2))
  }

  @Test func `a property may be a protocol's requirement`() throws {
    let model = ProtocolShape(title: "old")
    (model as any Titled).title = "new"
    try reread(model) { #expect($0.title == "new") }
  }
}
