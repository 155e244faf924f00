import Foundation
import SteadTestSupport
import SwiftData

@testable import SteadRecords

/// A schema of no program: entities, attributes and relationships by chance.
struct RandomSchema: CustomStringConvertible {
  struct Attribute: Equatable {
    enum Kind: CaseIterable { case integer, small, text, real, data, file }

    var name: String
    var originalName: String?
    var kind: Kind
    var isOptional: Bool
    var hasDefault: Bool
    var isUnique: Bool
  }

  /// One side of a relationship.
  struct End: Equatable {
    var entity: String
    var name: String
    var originalName: String?
    var isMany: Bool
  }

  /// A relationship and, where it has one, its inverse.
  struct Link: Equatable {
    var end: End
    var inverse: End?
    /// Where a relationship without inverse leads.
    var destination: String
  }

  var entities: [String: [Attribute]] = [:]
  /// The earlier name of each entity that was renamed.
  var originals: [String: String] = [:]
  /// The superclass of each entity that has one.
  var parents: [String: String] = [:]
  var links: [Link] = []

  static let entityNames = ["Cat", "Dog", "Elk", "Fox"]
  private static let attributeNames = ["a", "b", "c", "d"]

  static let empty = RandomSchema()

  private init() {}

  init(using random: inout SplitMix) {
    for name in Self.entityNames where Int.random(in: 0..<4, using: &random) > 0 {
      entities[name] = []
    }
    if entities.isEmpty { entities["Cat"] = [] }
    for name in entities.keys.sorted() {
      for attribute in Self.attributeNames where Bool.random(using: &random) {
        entities[name]?.append(Self.attribute(name.lowercased() + attribute, using: &random))
      }
    }
    for _ in 0..<Int.random(in: 0..<4, using: &random) { addLink(using: &random) }
  }

  private static func attribute(_ name: String, using random: inout SplitMix) -> Attribute {
    let isUnique = Int.random(in: 0..<6, using: &random) == 0
    return Attribute(
      name: name, kind: Attribute.Kind.allCases.randomElement(using: &random) ?? .text,
      isOptional: Bool.random(using: &random), hasDefault: !isUnique && Bool.random(using: &random),
      isUnique: isUnique)
  }

  private mutating func addLink(using random: inout SplitMix) {
    let names = entities.keys.sorted()
    let (one, other) = (
      names.randomElement(using: &random) ?? "Cat", names.randomElement(using: &random) ?? "Cat"
    )
    let number = Int.random(in: 0..<9, using: &random)
    let taken = Set(links.flatMap { [$0.end.name, $0.inverse?.name ?? ""] })
    let (name, back) = ("\(one.lowercased())To\(number)", "\(other.lowercased())Back\(number)")
    guard !taken.contains(name), !taken.contains(back) else { return }
    let end = End(entity: one, name: name, isMany: Bool.random(using: &random))
    let inverse =
      one != other && Bool.random(using: &random)
      ? End(entity: other, name: back, isMany: Bool.random(using: &random)) : nil
    links.append(Link(end: end, inverse: inverse, destination: other))
  }

  // MARK: Another version

  /// The schema with some changes.
  func changed(using random: inout SplitMix) -> RandomSchema {
    var result = self
    for _ in 0..<Int.random(in: 1..<5, using: &random) { result.change(using: &random) }
    return result
  }

  private mutating func change(using random: inout SplitMix) {
    let name = entities.keys.sorted().randomElement(using: &random) ?? "Cat"
    let count = entities[name]?.count ?? 0
    switch Int.random(in: 0..<12, using: &random) {
    case 0:
      if let new = Self.entityNames.first(where: { entities[$0] == nil }) { entities[new] = [] }
    case 1 where entities.count > 1:
      entities[name] = nil
      links.removeAll { $0.end.entity == name || $0.destination == name }
    case 2:
      let free = Self.attributeNames.map { name.lowercased() + $0 + "x" }.first { new in
        !(entities[name] ?? []).contains { $0.name == new }
      }
      if let free { entities[name]?.append(Self.attribute(free, using: &random)) }
    case 3 where count > 0: entities[name]?.remove(at: Int.random(in: 0..<count, using: &random))
    case 4...6 where count > 0:
      changeAttribute(Int.random(in: 0..<count, using: &random), of: name, using: &random)
    case 7: addLink(using: &random)
    case 8 where !links.isEmpty: links.remove(at: Int.random(in: 0..<links.count, using: &random))
    case 9... where !links.isEmpty:
      changeLink(Int.random(in: 0..<links.count, using: &random), using: &random)
    default: break
    }
  }

  private mutating func changeAttribute(
    _ index: Int, of name: String, using random: inout SplitMix
  ) {
    guard var attribute = entities[name]?[index] else { return }
    switch Int.random(in: 0..<5, using: &random) {
    case 0: attribute.isOptional.toggle()
    case 1: attribute.isUnique.toggle()
    case 2: attribute.hasDefault.toggle()
    case 3: attribute.kind = Attribute.Kind.allCases.randomElement(using: &random) ?? .text
    default:
      if attribute.originalName == nil {
        (attribute.originalName, attribute.name) = (attribute.name, attribute.name + "New")
      }
    }
    if attribute.isUnique { attribute.hasDefault = false }
    entities[name]?[index] = attribute
  }

  private mutating func changeLink(_ index: Int, using random: inout SplitMix) {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: links[index].end.isMany.toggle()
    case 1: links[index].inverse?.isMany.toggle()
    case 2:
      if links[index].inverse != nil {
        links[index].inverse = nil
      } else if links[index].end.entity != links[index].destination {
        let number = Int.random(in: 10..<99, using: &random)
        links[index].inverse = End(
          entity: links[index].destination, name: "back\(number)",
          isMany: Bool.random(using: &random))
      }
    default:
      if links[index].end.originalName == nil {
        let name = links[index].end.name
        (links[index].end.originalName, links[index].end.name) = (name, name + "New")
      }
    }
  }

  var description: String {
    let parts = entities.keys.sorted().map { name in
      let attributes = (entities[name] ?? []).map { each in
        "\(each.originalName.map { "\($0) > " } ?? "")\(each.name): \(each.kind)"
          + (each.isOptional ? "?" : "") + (each.hasDefault ? " = default" : "")
          + (each.isUnique ? " unique" : "")
      }
      return
        "\(originals[name].map { "\($0) > " } ?? "")\(name)(\(attributes.joined(separator: ", ")))"
    }
    let ends = links.map { link in
      func text(_ end: End) -> String {
        "\(end.entity).\(end.originalName.map { "\($0) > " } ?? "")\(end.name)\(end.isMany ? "*" : "")"
      }
      return text(link.end) + " -> " + (link.inverse.map(text) ?? link.destination)
    }
    return (parts + ends).joined(separator: "; ")
  }
}
