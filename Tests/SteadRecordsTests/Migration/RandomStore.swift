import Foundation
import SteadSQLite
import SteadTestSupport
import SwiftData

@testable import SteadRecords

/// Classes for entities that no class stands for.
enum NoModel {
  @Model final class Cat { init() {} }
  @Model final class Dog { init() {} }
  @Model final class Elk { init() {} }
  @Model final class Fox { init() {} }

  static let types: [String: any PersistentModel.Type] = [
    "Cat": Cat.self, "Dog": Dog.self, "Elk": Elk.self, "Fox": Fox.self,
  ]
}

extension RandomSchema.Attribute {
  var type: any Any.Type {
    switch kind {
    case .integer: isOptional ? Int?.self : Int.self
    case .small: isOptional ? Int8?.self : Int8.self
    case .text: isOptional ? String?.self : String.self
    case .real: isOptional ? Double?.self : Double.self
    case .data, .file: isOptional ? Data?.self : Data.self
    }
  }

  var defaultValue: (any Sendable)? {
    guard hasDefault else { return nil }
    switch kind {
    case .integer: return 7
    case .small: return Int8(7)
    case .text: return "it's \u{E9}"
    case .real: return 0.1
    case .data, .file: return Data([1, 2])
    }
  }

  /// What a column holds for the default value.
  var storedDefault: SQLValue? {
    guard hasDefault else { return nil }
    switch kind {
    case .integer, .small: return .integer(7)
    case .text: return .text("it's \u{E9}")
    case .real: return .real(0.1)
    case .data, .file: return .blob(Data([1, 2]))
    }
  }

  func randomValue(using random: inout SplitMix) -> SQLValue {
    if isOptional, Int.random(in: 0..<3, using: &random) == 0 { return .null }
    let number = Int64.random(in: 0..<6, using: &random)
    switch kind {
    case .integer: return .integer(number * 100)
    case .small: return .integer(number)
    case .text: return .text("\(number)")
    case .real: return .real(Double(number) / 3)
    case .data, .file: return .blob(Data([UInt8(number)]))
    }
  }
}

extension RandomSchema {
  /// The schema as a program's models would make it.
  var schema: Schema {
    var all: [String: Schema.Entity] = [:]
    var metadata: [ModelMetadata] = []
    for name in entities.keys.sorted() {
      var properties: [any SchemaProperty] = (entities[name] ?? []).map { attribute in
        var options: [Schema.Attribute.Option] = attribute.isUnique ? [.unique] : []
        if attribute.kind == .file { options.append(.externalStorage) }
        return Schema.Attribute(
          name: attribute.name, originalName: attribute.originalName, options: options,
          valueType: attribute.type, defaultValue: attribute.defaultValue)
      }
      for link in links {
        if link.end.entity == name {
          properties.append(
            relationship(link.end, to: link.destination, inverse: link.inverse?.name))
        }
        if let inverse = link.inverse, inverse.entity == name {
          properties.append(relationship(inverse, to: link.end.entity, inverse: link.end.name))
        }
      }
      let entity = Schema.Entity(name, list: properties)
      entity.originalName = originals[name] ?? name
      entity.uniquenessConstraints = (entities[name] ?? []).filter(\.isUnique).map { [$0.name] }
      all[name] = entity
      metadata.append(Self.metadata(name, properties))
    }
    return Schema(
      entities: Array(all.values), models: metadata, version: Schema.Version(1, 0, 0))
  }

  private func relationship(
    _ end: End, to destination: String, inverse: String?
  ) -> Schema.Relationship {
    let result = Schema.Relationship()
    result.name = end.name
    result.originalName = end.originalName ?? end.name
    result.destination = destination
    result.inverseName = inverse
    result.recorded = RecordedForm(isOptional: true, isToOne: !end.isMany)
    return result
  }

  private static func metadata(
    _ name: String, _ properties: [any SchemaProperty]
  ) -> ModelMetadata {
    ModelMetadata(
      NoModel.types[name] ?? NoModel.Cat.self, name: name,
      properties: properties.enumerated().map { index, property in
        ModelMetadata.Property(
          name: property.name, keyPath: \[Int].[index], shape: PropertyShape(property.valueType),
          options: nil, defaultValue: (property as? Schema.Attribute)?.defaultValue)
      })
  }
}

/// A store of a random schema, and what it holds.
struct RandomStore {
  /// Rows by entity and number; pairs of relationships, by `Entity.name` and owner, in their order.
  struct Contents: Equatable {
    var rows: [String: [Int64: [String: SQLValue]]] = [:]
    var pairs: [String: [Int64: [Int64]]] = [:]
  }

  let configuration: ModelConfiguration

  init(_ url: URL) { configuration = ModelConfiguration(url: url) }

  /// Opens the store, as a container does.
  @discardableResult
  func open(_ schema: RandomSchema) throws -> RecordStore {
    let layout = try StoreLayout(schema: schema.schema)
    return try RecordStore(
      configuration: configuration, layout: layout, entities: Set(layout.entities.indices))
  }

  func fill(_ schema: RandomSchema, using random: inout SplitMix) throws {
    let store = try open(schema)
    try store.write { connection in
      for name in schema.entities.keys.sorted() {
        for number in 0..<Int64.random(in: 0..<5, using: &random) {
          let attributes = schema.entities[name] ?? []
          let columns = ["_id"] + attributes.map(\.name)
          let marks = columns.indices.map { "?\($0 + 1)" }
          // Values that are unique already are left out by the store, row and all.
          try connection.run(
            "INSERT OR IGNORE INTO \(name) (\(columns.joined(separator: ", "))) "
              + "VALUES (\(marks.joined(separator: ", ")))",
            [.integer(number + 1)] + attributes.map { $0.randomValue(using: &random) })
        }
      }
      for entity in store.layout.entities {
        for property in entity.properties {
          try fill(property, of: entity, store.layout, connection, using: &random)
        }
      }
    }
  }

  /// Adds pairs to a relationship; where two sides have places of their own, to both.
  private func fill(
    _ property: PropertyLayout, of entity: EntityLayout, _ layout: StoreLayout,
    _ connection: StoreConnection, using random: inout SplitMix
  ) throws {
    guard let destination = property.destination else { return }
    let target = layout.entities[destination]
    let owners = try connection.numbers(entity.table).shuffled(using: &random)
    var targets = try connection.numbers(target.table).shuffled(using: &random)
    let inverse = property.relationship?.inverse.map { target.properties[$0] }
    for owner in owners where Bool.random(using: &random) && !targets.isEmpty {
      switch property.kind {
      case .toOne:
        let isOneToOne = inverse.map { !$0.isToMany } ?? false
        // The side that comes first by name fills both.
        if isOneToOne, (inverse?.name ?? "") < property.name { continue }
        let other =
          isOneToOne
          ? targets.removeLast() : targets.randomElement(using: &random) ?? targets[0]
        try connection.set(entity.table, property.name, owner, other)
        if isOneToOne, let inverse {
          try connection.set(target.table, inverse.name, other, owner)
        }
      case .toMany(.join(let table, "owner", _), _):
        for other in targets.prefix(Int.random(in: 1..<4, using: &random)) {
          try connection.run(
            "INSERT OR IGNORE INTO \(table) (owner, target) VALUES (?1, ?2)",
            [.integer(owner), .integer(other)])
        }
        targets.shuffle(using: &random)
      default: break
      }
    }
  }

  /// What the store holds, read by the layout of its models.
  func contents(_ store: RecordStore) throws -> Contents {
    var contents = Contents()
    try store.read(.newest) { connection, _ in
      for entity in store.layout.entities {
        var rows: [Int64: [String: SQLValue]] = [:]
        for number in try connection.numbers(entity.table) { rows[number] = [:] }
        for property in entity.properties {
          if case .attribute = property.kind {
            for row in try connection.rows("SELECT \"_id\", \(property.name) FROM \(entity.table)")
            {
              guard case .integer(let number) = row[0] else { continue }
              rows[number]?[property.name] = row[1]
            }
          } else {
            let pairs = try connection.pairs(property, of: entity, store.layout)
            if !pairs.isEmpty { contents.pairs["\(entity.name).\(property.name)"] = pairs }
          }
        }
        contents.rows[entity.name] = rows
      }
    }
    return contents
  }
}

extension StoreConnection {
  fileprivate func numbers(_ table: String) throws -> [Int64] {
    try rows("SELECT \"_id\" FROM \(table) ORDER BY \"_id\"").compactMap {
      if case .integer(let number)? = $0.first { number } else { nil }
    }
  }

  fileprivate func set(_ table: String, _ column: String, _ row: Int64, _ value: Int64) throws {
    try run(
      "UPDATE \(table) SET \(column) = ?2 WHERE \"_id\" = ?1", [.integer(row), .integer(value)])
  }

  /// The pairs of a relationship, by owner, in their order.
  fileprivate func pairs(
    _ property: PropertyLayout, of entity: EntityLayout, _ layout: StoreLayout
  ) throws -> [Int64: [Int64]] {
    let sql: String
    switch property.kind {
    case .toOne:
      sql =
        "SELECT \"_id\", \(property.name) FROM \(entity.table) WHERE \(property.name) IS NOT NULL"
    case .toMany(.inverse(let index), let destination):
      let target = layout.entities[destination]
      let column = target.properties[index].name
      sql =
        "SELECT \(column), \"_id\" FROM \(target.table) WHERE \(column) IS NOT NULL "
        + "ORDER BY ifnull(_\(column)_order, \"_id\")"
    case .toMany(.join(let table, let owner, let target), _):
      sql = "SELECT \(owner), \(target) FROM \(table) ORDER BY ifnull(\(owner)_order, \"_id\")"
    default: return [:]
    }
    var result: [Int64: [Int64]] = [:]
    for row in try rows(sql) {
      if case .integer(let owner) = row[0], case .integer(let target) = row[1] {
        result[owner, default: []].append(target)
      }
    }
    return result
  }
}
