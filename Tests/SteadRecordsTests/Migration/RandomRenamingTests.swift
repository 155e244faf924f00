import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// Versions that give classes, attributes and relationships each other's names, at random: swaps, chains, ways back, and
/// names that are used again.
///
/// In a version with `@Attribute(originalName: "a") var b` and a new `a`, `a` means the new one. When the next version
/// removed `b` and renamed `a`, a new `a` got the values of `b`, as if nothing had had the name since.
@Suite(.hangLimit) struct RandomRenamingTests {
  @Test func `every value follows its class and property through three versions`() async throws {
    var (versions, swaps, back, ofTwo) = (0, 0, 0, 0)
    for seed in 1...UInt64(Effort.times(40, long: 1_000)) {
      var random = SplitMix(seed: seed)
      let directory = try TemporaryDirectory(inMemory: true)
      let store = RandomStore(directory.file("random.store"))
      var schema = RandomRenaming.first(using: &random)
      try store.fill(schema, using: &random)
      var contents = try store.contents(store.open(schema))
      for _ in 0..<3 {
        guard let renaming = RandomRenaming(of: schema, using: &random) else { continue }
        let comment: Comment = "seed \(seed)\n\(schema)\n\(renaming.new)"
        let expected = renaming.expected(contents, schema)
        do {
          contents = try store.contents(store.open(renaming.new))
        } catch {
          Issue.record("\(error) \(comment)")
          break
        }
        #expect(contents.withoutOrder == expected.withoutOrder, comment)
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
        back += renaming.namesLedBack
        ofTwo += renaming.namesOfTwo
        schema = renaming.new
      }
      await Task.yield()
    }
    #expect(
      versions > 100 && swaps > 2 && back > 2 && ofTwo > 1 || !Effort.isRepresentative,
      "\(versions) versions, \(swaps) with a swap, \(back) names led back, \(ofTwo) of two")
  }

  @Test func `two claims on one property or class are refused and change nothing`() throws {
    var refused = 0
    for seed in 1...UInt64(Effort.times(10, long: 400)) {
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
    #expect(refused >= Effort.times(6))
  }
}
