import Foundation
import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// Random pairs of schemas and random data, against rules in plain words.
@Suite(.hangLimit) struct RandomMigrationTests {
  /// What a store is to hold afterwards; nil where it is to be refused.
  private struct Expectation {
    let old: RandomSchema
    let new: RandomSchema

    /// What an attribute was.
    private func origin(_ attribute: RandomSchema.Attribute, _ entity: String)
      -> RandomSchema.Attribute?
    {
      let before = old.entities[entity] ?? []
      if let renamed = before.first(where: { $0.name == attribute.originalName }) {
        return renamed
      }
      return isClaimed(attribute.name, entity)
        ? nil : before.first { $0.name == attribute.name }
    }

    /// Whether something has the name as its original name.
    private func isClaimed(_ name: String, _ entity: String) -> Bool {
      let ends = new.links.flatMap { [$0.end, $0.inverse].compactMap(\.self) }
      return (new.entities[entity] ?? []).contains { $0.originalName == name }
        || ends.contains { $0.entity == entity && $0.originalName == name }
    }

    /// What the end of a relationship was: the relationship, and whether it was its inverse.
    private func origin(_ end: RandomSchema.End) -> (link: RandomSchema.Link, isInverse: Bool)? {
      for name in [end.originalName, isClaimed(end.name, end.entity) ? nil : end.name] {
        guard let name else { continue }
        for link in old.links {
          if link.end.entity == end.entity, link.end.name == name { return (link, false) }
          if let inverse = link.inverse, inverse.entity == end.entity, inverse.name == name {
            return (link, true)
          }
        }
      }
      return nil
    }

    func contents(_ before: RandomStore.Contents) -> RandomStore.Contents? {
      var after = RandomStore.Contents()
      for (entity, attributes) in new.entities {
        guard old.entities[entity] != nil else {
          after.rows[entity] = [:]
          continue
        }
        var rows = (before.rows[entity] ?? [:]).mapValues { _ in [String: SQLValue]() }
        for attribute in attributes {
          guard let values = values(attribute, entity, before.rows[entity] ?? [:]) else {
            return nil
          }
          for (row, value) in values { rows[row]?[attribute.name] = value }
        }
        after.rows[entity] = rows
      }
      for link in new.links {
        guard link.end.entity != "", old.entities[link.end.entity] != nil,
          old.entities[link.destination] != nil
        else { continue }
        guard add(link, before, &after) else { return nil }
      }
      return after
    }

    private func values(
      _ attribute: RandomSchema.Attribute, _ entity: String,
      _ rows: [Int64: [String: SQLValue]]
    ) -> [Int64: SQLValue]? {
      guard let origin = origin(attribute, entity) else {
        if attribute.isUnique || !attribute.hasDefault, !attribute.isOptional, !rows.isEmpty {
          return nil
        }
        return rows.mapValues { _ in attribute.storedDefault ?? .null }
      }
      let kinds: Set = [origin.kind, attribute.kind]
      let isSameForm =
        kinds.count == 1 || kinds == [.integer, .small] || kinds == [.data, .file]
      guard isSameForm else { return nil }
      if origin.isOptional, !attribute.isOptional, !attribute.hasDefault { return nil }
      var values = rows.compactMapValues { $0[origin.name] }
      if origin.kind == .integer, attribute.kind == .small {
        let large = values.values.contains {
          if case .integer(let n) = $0 { n > 127 } else { false }
        }
        if large { return nil }
      }
      if origin.isOptional, !attribute.isOptional {
        values = values.mapValues { $0 == .null ? attribute.storedDefault ?? .null : $0 }
      }
      let present = values.values.filter { $0 != .null }
      if attribute.isUnique, !origin.isUnique, Set(present).count != present.count { return nil }
      return values
    }

    /// Adds the pairs of both sides; false where they cannot be.
    private func add(
      _ link: RandomSchema.Link, _ before: RandomStore.Contents,
      _ after: inout RandomStore.Contents
    ) -> Bool {
      let origins = (origin(link.end), link.inverse.flatMap(origin))
      var pairs: [Int64: [Int64]] = [:]
      if let (source, isInverse) = origins.0 {
        let destination = isInverse ? source.end.entity : source.destination
        guard destination == link.destination else { return false }
        pairs =
          before.pairs[
            "\(link.end.entity).\(isInverse ? source.inverse?.name ?? "" : source.end.name)"] ?? [:]
        if let other = origins.1, other.link != source { return false }
      } else if let (source, isInverse) = origins.1, let inverse = link.inverse {
        let destination = isInverse ? source.end.entity : source.destination
        guard destination == link.end.entity else { return false }
        let name = isInverse ? source.inverse?.name ?? "" : source.end.name
        let back = before.pairs["\(inverse.entity).\(name)"] ?? [:]
        for (owner, targets) in back.sorted(by: { $0.key < $1.key }) {
          for target in targets { pairs[target, default: []].append(owner) }
        }
      }
      if !link.end.isMany, pairs.values.contains(where: { $0.count > 1 }) { return false }
      var back: [Int64: Set<Int64>] = [:]
      for (owner, targets) in pairs {
        for target in targets { back[target, default: []].insert(owner) }
      }
      if let inverse = link.inverse, !inverse.isMany, back.values.contains(where: { $0.count > 1 })
      {
        return false
      }
      if !pairs.isEmpty { after.pairs["\(link.end.entity).\(link.end.name)"] = pairs }
      if let inverse = link.inverse, !back.isEmpty {
        after.pairs["\(inverse.entity).\(inverse.name)"] = back.mapValues { $0.sorted() }
      }
      return true
    }
  }

  /// Without the order of inverses, which is not told apart here.
  private static func sorted(
    _ contents: RandomStore.Contents, _ schema: RandomSchema
  ) -> RandomStore.Contents {
    var result = contents
    for link in schema.links {
      guard let inverse = link.inverse else { continue }
      let name = "\(inverse.entity).\(inverse.name)"
      result.pairs[name] = contents.pairs[name]?.mapValues { $0.sorted() }
    }
    return result
  }

  @Test(arguments: 0..<8) func `keeps what it should`(part: Int) throws {
    var (refused, moved) = (0, 0)
    let count = Effort.times(20, long: 900)
    for seed in (part * 1_000 + 1)...(part * 1_000 + count) {
      if try check(UInt64(seed)) { moved += 1 } else { refused += 1 }
    }
    // Both happen often enough to be worth the while.
    #expect(
      moved > count / 4 && refused > 0 || !Effort.isRepresentative,
      "\(moved) followed, \(refused) were refused")
  }

  /// Whether the store followed.
  private func check(_ seed: UInt64) throws -> Bool {
    var random = SplitMix(seed: seed)
    let old = RandomSchema(using: &random)
    let new = old.changed(using: &random)
    let directory = try TemporaryDirectory(inMemory: true)
    let url = directory.file("random.store")
    let store = RandomStore(url)
    try store.fill(old, using: &random)
    let before = try store.contents(store.open(old))
    let bytes = try Data(contentsOf: url)
    let comment: Comment = "seed \(seed)\n\(old)\n\(new)"
    let expected = Expectation(old: old, new: new).contents(before)
    do {
      let after = try store.contents(store.open(new))
      guard let expected else {
        Issue.record("It was to be refused. \(comment)")
        return true
      }
      #expect(Self.sorted(after, new) == Self.sorted(expected, new), comment)
      // The second opening finds nothing to do.
      #expect(try store.contents(store.open(new)) == after, comment)
      return true
    } catch let error as SwiftDataError {
      #expect(expected == nil, "\(error.message) \(comment)")
      #expect(try Data(contentsOf: url) == bytes, comment)
      return false
    }
  }
}
