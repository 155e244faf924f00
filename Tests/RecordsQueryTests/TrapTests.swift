import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// A fetch ended the program, or threw, where a predicate overflowed, divided by zero or unwrapped nil on an object with unsaved
/// changes, or was evaluated in memory since SQL has no such arithmetic; once saved, the object just didn't match.
struct TrapTests {
  enum State: CaseIterable {
    case stored, inserted, edited
    /// Another class has pending changes, so that all rows are evaluated in memory.
    case related
  }

  /// A sample that no predicate below traps on, and that matches all, and one on which all of them trap.
  private static func makeSamples() -> [Sample] {
    [
      Sample(number: 1, text: "sound", optionalNumber: 3, small: -1, unsigned: 5, numbers: [4, 5]),
      Sample(
        number: .max, text: "trap", optionalNumber: nil, small: .min, unsigned: .max,
        numbers: [.max]),
    ]
  }

  private static func makePredicates() -> [(String, Predicate<Sample>)] {
    let (one, minusOne, two, huge, smallOne) = (1, -1, 2, UInt64(1), Int16(1))
    let inner = #Predicate<Sample> { $0.number + one > 0 }
    return [
      ("+", inner),
      ("-", #Predicate<Sample> { $0.number - minusOne > 0 }),
      ("*", #Predicate<Sample> { $0.number * two > 0 }),
      ("/", #Predicate<Sample> { 100 / ($0.optionalNumber ?? 0) > 0 }),
      ("%", #Predicate<Sample> { 100 % ($0.optionalNumber ?? 0) > 0 }),
      ("negative", #Predicate<Sample> { -$0.small == smallOne }),
      ("Int16", #Predicate<Sample> { $0.small * $0.small == smallOne }),
      ("UInt64", #Predicate<Sample> { $0.unsigned + huge > 0 }),
      ("!", #Predicate<Sample> { $0.optionalNumber! > 0 }),
      ("[]", #Predicate<Sample> { $0.numbers[1] > 0 }),
      ("??", #Predicate<Sample> { ($0.optionalNumber ?? ($0.number + one)) > 0 }),
      ("?:", #Predicate<Sample> { ($0.number > one ? $0.number * two : $0.number) > 0 }),
      ("inner", #Predicate<Sample> { inner.evaluate($0) }),
      ("both", #Predicate<Sample> { $0.text != "" && $0.number + one > 0 }),
      ("labels", #Predicate<Sample> { $0.labels.count == 0 && $0.number + one > 0 }),
    ]
  }

  @Test(arguments: State.allCases)
  func `a row on which Swift would trap matches neither a predicate nor its negation`(
    state: State
  ) throws {
    let store = try SampleStore(state == .inserted ? [] : Self.makeSamples())
    let context = store.context
    switch state {
    case .stored: break
    case .inserted: for sample in Self.makeSamples() { context.insert(sample) }
    case .edited: for sample in store.samples { sample.flag.toggle() }
    case .related: context.insert(Label(name: "new", weight: 1))
    }
    for (name, predicate) in Self.makePredicates() {
      let found = FetchDescriptor(predicate: predicate)
      #expect(try context.fetch(found).map(\.text) == ["sound"], "\(name)")
      #expect(try context.fetchCount(found) == 1, "\(name)")
      let other = FetchDescriptor<Sample>(predicate: #Predicate { !predicate.evaluate($0) })
      #expect(try context.fetch(other).isEmpty, "not \(name)")
    }
  }

  /// Foundation makes such a range without a check of its own.
  @Test(arguments: State.allCases)
  func `a closed range with bounds in the wrong order contains nothing`(state: State) throws {
    let store = try SampleStore([])
    let samples = [Sample(text: "sound", small: 1), Sample(text: "trap", small: -1)]
    for sample in samples { store.context.insert(sample) }
    if state != .inserted { try store.context.save() }
    if state == .edited { for sample in samples { sample.flag.toggle() } }
    let predicate = Predicate<Sample> { sample in
      PredicateExpressions.build_contains(
        PredicateExpressions.build_ClosedRange(
          lower: PredicateExpressions.Value(Int16(0)),
          upper: PredicateExpressions.build_KeyPath(root: sample, keyPath: \.small)),
        PredicateExpressions.Value(Int16(0)))
    }
    let found = try store.context.fetch(FetchDescriptor(predicate: predicate))
    #expect(found.map(\.text) == ["sound"])
  }
}
