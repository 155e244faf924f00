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
    let sound = Sample(
      number: 1, text: "sound", optionalNumber: 3, optionalReal: 1, small: -1, unsigned: 5,
      numbers: [4, 5])
    sound.parent = sound
    sound.optionalNumbers = [4, 5]
    return [
      sound,
      Sample(
        number: .max, text: "trap", optionalNumber: nil, small: .min, unsigned: .max,
        numbers: [.max]),
    ]
  }

  /// Nothing is in an array that does not exist, so the store took one that was unwrapped for an empty one.
  private static func makeArrayPredicates() -> [(String, Predicate<Sample>)] {
    let none: [PersistentIdentifier] = []
    return [
      ("all", #Predicate<Sample> { $0.optionalNumbers!.allSatisfy { $0 > 0 } }),
      ("all of unwrapped", #Predicate<Sample> { $0.parent!.numbers.allSatisfy { $0 > 0 } }),
      ("contains", #Predicate<Sample> { $0.optionalNumbers!.contains(4) }),
      ("contains not", #Predicate<Sample> { !$0.optionalNumbers!.contains(3) }),
      ("unwrapped contains not", #Predicate<Sample> { !$0.parent!.numbers.contains(3) }),
      ("contains where", #Predicate<Sample> { $0.optionalNumbers!.contains { $0 > 4 } }),
      ("contains not where", #Predicate<Sample> { !$0.optionalNumbers!.contains { $0 > 5 } }),
      ("no filtered", #Predicate<Sample> { $0.optionalNumbers!.filter { $0 > 5 }.isEmpty }),
      ("filtered", #Predicate<Sample> { $0.optionalNumbers!.filter { $0 > 4 }.count == 1 }),
      ("no count", #Predicate<Sample> { $0.optionalNumbers!.filter { $0 > 5 }.count == 0 }),
      ("no identifier", #Predicate<Sample> { !none.contains($0.parent!.persistentModelID) }),
      ("child", #Predicate<Sample> { $0.children.contains($0.parent!) }),
    ]
  }

  private static func makePredicates() -> [(String, Predicate<Sample>)] {
    let (one, minusOne, two, huge, smallOne, odd) = (1, -1, 2, UInt64(1), Int16(1), Double.nan)
    let (none, some): ([Int], [Int]) = ([], [two, 5])
    let inner = #Predicate<Sample> { $0.number + one > 0 }
    return [
      ("+", inner),
      ("-", #Predicate<Sample> { $0.number - minusOne > 0 }),
      ("*", #Predicate<Sample> { $0.number * two > 0 }),
      ("/", #Predicate<Sample> { 100 / ($0.optionalNumber ?? 0) > 0 }),
      ("%", #Predicate<Sample> { 100 % ($0.optionalNumber ?? 0) > 0 }),
      (
        "nested %",
        #Predicate<Sample> { 100 % ($0.optionalNumber ?? 0) % ($0.numbers.count + 5) > 0 }
      ),
      ("negative", #Predicate<Sample> { -$0.small == smallOne }),
      ("Int16", #Predicate<Sample> { $0.small * $0.small == smallOne }),
      ("UInt64", #Predicate<Sample> { $0.unsigned + huge > 0 }),
      ("!", #Predicate<Sample> { $0.optionalNumber! > 0 }),
      ("[]", #Predicate<Sample> { $0.numbers[1] > 0 }),
      ("??", #Predicate<Sample> { ($0.optionalNumber ?? ($0.number + one)) > 0 }),
      ("?:", #Predicate<Sample> { ($0.number > one ? $0.number * two : $0.number) > 0 }),
      ("inner", #Predicate<Sample> { inner.evaluate($0) }),
      ("optional !=", #Predicate<Sample> { $0.optionalNumber != $0.number + one }),
      ("optional ==", #Predicate<Sample> { $0.optionalNumber == $0.number + two }),
      ("== true", #Predicate<Sample> { ($0.optionalNumber == $0.number + two) == true }),
      ("real", #Predicate<Sample> { $0.optionalReal == $0.optionalReal! }),
      ("NaN", #Predicate<Sample> { $0.optionalReal! != odd }),
      ("no NaN", #Predicate<Sample> { !($0.optionalReal! < odd) }),
      ("unwrapped", #Predicate<Sample> { $0.parent!.persistentModelID == $0.persistentModelID }),
      (
        "both unwrapped",
        #Predicate<Sample> { $0.parent!.persistentModelID == $0.parent!.persistentModelID }
      ),
      ("element", #Predicate<Sample> { some.contains($0.number + one) }),
      ("no element", #Predicate<Sample> { !none.contains($0.number + one) }),
      ("stored element", #Predicate<Sample> { $0.numbers.contains($0.number + 3) }),
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
    for (name, predicate) in Self.makePredicates() + Self.makeArrayPredicates() {
      let found = FetchDescriptor(predicate: predicate)
      #expect(try context.fetch(found).map(\.text) == ["sound"], "\(name)")
      #expect(try context.fetchCount(found) == 1, "\(name)")
      let other = FetchDescriptor<Sample>(predicate: #Predicate { !predicate.evaluate($0) })
      #expect(try context.fetch(other).isEmpty, "not \(name)")
    }
  }

  @Test(arguments: [false, true])
  func `an object whose cast fails is neither among identifiers nor isn't`(isEdited: Bool) throws {
    let context = try SampleStore([]).context
    let animals = [Animal(name: "trap"), Dog(name: "sound", tricks: 1)]
    for animal in animals { context.insert(animal) }
    try context.save()
    for ids in [[], [animals[0].persistentModelID]] {
      if isEdited { for animal in animals { animal.name = String(animal.name) } }
      // A predicate is never run as Swift: the cast that fails is what is tested.
      let predicate = #Predicate<Animal> { !ids.contains(($0 as! Dog).persistentModelID) }
      #expect(try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name) == ["sound"])
      let other = FetchDescriptor<Animal>(predicate: #Predicate { !predicate.evaluate($0) })
      #expect(try context.fetch(other).isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `a filtered array of an optional chain is nil where the array is`(isEdited: Bool) throws {
    let store = try SampleStore(Self.makeSamples())
    if isEdited { for sample in store.samples { sample.flag.toggle() } }
    for predicate in [
      #Predicate<Sample> { $0.optionalNumbers?.filter { $0 > 9 }.count == 0 },
      #Predicate<Sample> { $0.optionalNumbers?.filter { $0 > 9 }.isEmpty == true },
    ] {
      let found = try store.context.fetch(FetchDescriptor(predicate: predicate))
      #expect(found.map(\.text) == ["sound"])
      let other = FetchDescriptor<Sample>(predicate: #Predicate { !predicate.evaluate($0) })
      #expect(try store.context.fetch(other).map(\.text) == ["trap"])
    }
  }

  /// Foundation makes such ranges without a check of its own. In the store, the negation matched.
  private static func makeRanges() -> [(String, Predicate<Sample>)] {
    let zero = PredicateExpressions.Value(Int16(0))
    return [
      (
        "...",
        Predicate<Sample> {
          PredicateExpressions.build_contains(
            PredicateExpressions.build_ClosedRange(
              lower: zero, upper: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.small)),
            zero)
        }
      ),
      (
        "..<",
        Predicate<Sample> {
          PredicateExpressions.build_contains(
            PredicateExpressions.build_Range(
              lower: zero, upper: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.small)),
            zero)
        }
      ),
    ]
  }

  @Test(arguments: State.allCases)
  func `a range with bounds in the wrong order neither contains a value nor doesn't`(
    state: State
  ) throws {
    let store = try SampleStore([])
    let samples = [Sample(text: "sound", small: 1), Sample(text: "trap", small: -1)]
    for sample in samples { store.context.insert(sample) }
    if state != .inserted { try store.context.save() }
    if state == .edited { for sample in samples { sample.flag.toggle() } }
    for (name, range) in Self.makeRanges() {
      let found = try store.context.fetch(FetchDescriptor(predicate: range))
      #expect(found.map(\.text) == ["sound"], "\(name)")
      let other = FetchDescriptor<Sample>(predicate: #Predicate { !range.evaluate($0) })
      #expect(try store.context.fetch(other).isEmpty, "not \(name)")
    }
  }
}
