import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// Versions that give classes, attributes and relationships each other's names, at random: swaps, chains, and names
/// that are used again.
@Suite(.hangLimit) struct RandomRenamingTests {
  private typealias Contents = RandomStore.Contents

  /// What a store holds afterwards, from what each class and property was.
  private static func expected(
    _ before: Contents, _ old: RandomSchema, _ renaming: RandomRenaming
  ) -> Contents {
    var after = Contents()
    for (entity, attributes) in renaming.new.entities {
      let rows = renaming.entities[entity].flatMap { before.rows[$0] } ?? [:]
      after.rows[entity] = rows.mapValues { row in
        var values: [String: SQLValue] = [:]
        for attribute in attributes {
          let origin = renaming.members[entity]?[attribute.name]
          values[attribute.name] =
            origin.map { row[$0] ?? .null } ?? attribute.storedDefault ?? .null
        }
        return values
      }
    }
    for (index, link) in renaming.new.links.enumerated() {
      guard let origin = renaming.links[index].map({ old.links[$0] }) else { continue }
      let ends = [(link.end, origin.end)] + [link.inverse, origin.inverse].compactMap(\.self).pairs
      for (end, was) in ends {
        after.pairs["\(end.entity).\(end.name)"] = before.pairs["\(was.entity).\(was.name)"]
      }
    }
    return after
  }

  /// Without the order of the pairs, which other tests check.
  private static func sorted(_ contents: Contents) -> Contents {
    var result = contents
    result.pairs = contents.pairs.mapValues { $0.mapValues { $0.sorted() } }
    return result
  }

  @Test func `every value follows its class and property through three versions`() async throws {
    var (versions, swaps) = (0, 0)
    for seed in 1...UInt64(Effort.times(100)) {
      var random = SplitMix(seed: seed)
      let directory = try TemporaryDirectory(inMemory: true)
      let store = RandomStore(directory.file("random.store"))
      var schema = RandomRenaming.first(using: &random)
      try store.fill(schema, using: &random)
      var contents = try store.contents(store.open(schema))
      for _ in 0..<3 {
        guard let renaming = RandomRenaming(of: schema, using: &random) else { continue }
        let comment: Comment = "seed \(seed)\n\(schema)\n\(renaming.new)"
        let expected = Self.expected(contents, schema, renaming)
        do {
          contents = try store.contents(store.open(renaming.new))
        } catch {
          Issue.record("\(error) \(comment)")
          break
        }
        #expect(Self.sorted(contents) == Self.sorted(expected), comment)
        // The second opening finds nothing to do.
        #expect(try store.contents(store.open(renaming.new)) == contents, comment)
        let problems = try store.open(renaming.new).check(StoreProgressReporter { _ in }).problems
        #expect(problems.isEmpty, "\(problems) \(comment)")
        versions += 1
        if renaming.members.values.contains(where: { names in
          names.contains { $0.key != $0.value && names[$0.value] == $0.key }
        }) {
          swaps += 1
        }
        schema = renaming.new
      }
      await Task.yield()
    }
    #expect(versions > 100 && swaps > 8, "\(versions) versions, \(swaps) with a swap")
  }

  @Test func `two claims on one property or class are refused and change nothing`() throws {
    var refused = 0
    for seed in 1...UInt64(Effort.times(40)) {
      var random = SplitMix(seed: seed)
      let directory = try TemporaryDirectory(inMemory: true)
      let store = RandomStore(directory.file("random.store"))
      let old = RandomRenaming.first(using: &random)
      try store.fill(old, using: &random)
      let contents = try store.contents(store.open(old))
      guard let name = old.entities.first(where: { !$0.value.isEmpty })?.key,
        let attribute = old.entities[name]?.randomElement(using: &random)
      else { continue }
      var new = old
      var copy = attribute
      (copy.originalName, copy.isUnique) = (attribute.name, false)
      copy.name = "one"
      new.entities[name]?.append(copy)
      copy.name = "two"
      new.entities[name]?.append(copy)
      let error = #expect(throws: SwiftDataError.self) { try store.open(new) }
      #expect(error?.message.contains("\(name).one and \(name).two") == true)
      #expect(try store.contents(store.open(old)) == contents, "seed \(seed)")
      refused += 1
    }
    #expect(refused > 10)
  }
}

extension Array {
  /// The first two elements.
  fileprivate var pairs: [(Element, Element)] { count == 2 ? [(self[0], self[1])] : [] }
}
