import Foundation
import SwiftData
import Testing

/// What Foundation's macro accepts, ours accepts with the same meaning.
struct FoundationFormTests {
  private let store: ErrandStore

  init() throws { store = try ErrandStore() }

  @Test func `comparisons and logic`() throws {
    let two = 2
    try store.expect(
      #Predicate<Errand> { $0.number == 1 }
    ) { $0.number == 1 }
    try store.expect(
      #Predicate<Errand> { $0.number != two && $0.title != "" }
    ) { $0.number != two && $0.title != "" }
    try store.expect(
      #Predicate<Errand> { $0.number < 2 || $0.number >= 4 }
    ) { $0.number < 2 || $0.number >= 4 }
    try store.expect(
      #Predicate<Errand> { !($0.number <= two) }
    ) { !($0.number <= two) }
    try store.expect(
      #Predicate<Errand> { $0.isDone }
    ) { $0.isDone }
    try store.expect(
      #Predicate<Errand> { $0.isDone == false && $0.number > two }
    ) { $0.isDone == false && $0.number > two }
    try store.expect(
      #Predicate<Errand> { $0.floor == 1 }
    ) { $0.floor == 1 }
    try store.expect(
      #Predicate<Errand> { $0.floor != 1 }
    ) { $0.floor != 1 }
    try store.expect(
      #Predicate<Errand> { !($0.floor == two) }
    ) { !($0.floor == two) }
    try store.expect(
      #Predicate<Errand> { $0.note == $0.title }
    ) { $0.note == $0.title }
    try store.expect(
      #Predicate<Errand> { $0.number == $0.floor }
    ) { $0.number == $0.floor }
    try store.expect(
      #Predicate<Errand> { $0.note != nil }
    ) { $0.note != nil }
    try store.expect(
      #Predicate<Errand> { nil == $0.floor }
    ) { nil == $0.floor }
  }

  @Test func arithmetic() throws {
    let half = 0.5
    try store.expect(
      #Predicate<Errand> { $0.number * 2 + 1 > 5 }
    ) { $0.number * 2 + 1 > 5 }
    try store.expect(
      #Predicate<Errand> { $0.weight * 2 - half < 2 }
    ) { $0.weight * 2 - half < 2 }
    try store.expect(
      #Predicate<Errand> { $0.number / 2 == 1 && $0.number % 2 == 0 }
    ) { $0.number / 2 == 1 && $0.number % 2 == 0 }
    try store.expect(
      #Predicate<Errand> { -$0.weight < 0 }
    ) { -$0.weight < 0 }
    try store.expect(
      #Predicate<Errand> { $0.weight / 2 > 1 }
    ) { $0.weight / 2 > 1 }
    try store.expect(
      #Predicate<Errand> { 10 - $0.number == 6 }
    ) { 10 - $0.number == 6 }
  }

  @Test func ranges() throws {
    let range = 2..<4
    let names = ["Anna", "buy milk"]
    try store.expect(
      #Predicate<Errand> { (1...2).contains($0.number) }
    ) { (1...2).contains($0.number) }
    try store.expect(
      #Predicate<Errand> { range.contains($0.number) }
    ) { range.contains($0.number) }
    try store.expect(
      #Predicate<Errand> { range ~= $0.number }
    ) { range ~= $0.number }
    try store.expect(
      #Predicate<Errand> { (3...).contains($0.number) || (...1).contains($0.number) }
    ) { (3...).contains($0.number) || (...1).contains($0.number) }
    try store.expect(
      #Predicate<Errand> { ($0.number...3).contains(2) }
    ) { $0.number <= 2 }
    try store.expect(
      #Predicate<Errand> { (-1.0...1).contains($0.weight) }
    ) { (-1.0...1).contains($0.weight) }
    try store.expect(
      #Predicate<Errand> { names.contains($0.title) }
    ) { names.contains($0.title) }
    try store.expect(
      #Predicate<Errand> { Set(names).contains($0.title) }
    ) { Set(names).contains($0.title) }
    try store.expect(
      #Predicate<Errand> { ["", "Anna"].contains($0.note) }
    ) { ["", "Anna"].contains($0.note) }
  }

  @Test func branches() throws {
    try store.expect(
      #Predicate<Errand> { ($0.isDone ? 1 : 5) == $0.number }
    ) { ($0.isDone ? 1 : 5) == $0.number }
    try store.expect(
      #Predicate<Errand> { ($0.isDone ? $0.note : nil) == "Crème" }
    ) { ($0.isDone ? $0.note : nil) == "Crème" }
    try store.expect(
      #Predicate<Errand> { $0.weight == ($0.isDone ? 1 : 2.5) }
    ) { $0.weight == ($0.isDone ? 1 : 2.5) }
    try store.expect(
      #Predicate<Errand> { $0.floor == ($0.isDone ? 1 : 2) }
    ) { $0.floor == ($0.isDone ? 1 : 2) }
    try store.expect(
      #Predicate<Errand> { if $0.isDone { return $0.number == 1 } else { return $0.number > 3 } }
    ) { if $0.isDone { return $0.number == 1 } else { return $0.number > 3 } }
    try store.expect(
      #Predicate<Errand> { errand in
        if let courier = errand.courier {
          return courier.name == "Anna"
        } else {
          return errand.number == 5
        }
      }
    ) { errand in
      if let courier = errand.courier {
        return courier.name == "Anna"
      } else {
        return errand.number == 5
      }
    }
    try store.expect(
      #Predicate<Errand> { errand in
        if let floor = errand.floor, floor > 1 { return true }; return errand.number == 4
      }
    ) { errand in
      if let floor = errand.floor, floor > 1 { return true }; return errand.number == 4
    }
    try store.expect(
      #Predicate<Errand> { errand in
        guard let note = errand.note else { return errand.number == 3 }; return note.isEmpty
      }
    ) { errand in
      guard let note = errand.note else { return errand.number == 3 }; return note.isEmpty
    }
    try store.expect(
      #Predicate<Errand> { errand in
        let twice = errand.number * 2; let limit: Double = 3;
        return twice > 4 && errand.weight < limit
      }
    ) { errand in
      let twice = errand.number * 2; let limit: Double = 3;
      return twice > 4 && errand.weight < limit
    }
    try store.expect(
      #Predicate<Errand> { errand in
        let nickname = if let courier = errand.courier { courier.nickname } else { errand.title }
        return nickname == nil
      }
    ) { errand in errand.courier != nil && errand.courier?.nickname == nil }
  }

  @Test func optionals() throws {
    try store.expect(
      #Predicate<Errand> { $0.note?.count == 5 }
    ) { $0.note?.count == 5 }
    try store.expect(
      #Predicate<Errand> { $0.courier?.nickname?.isEmpty == false }
    ) { $0.courier?.nickname?.isEmpty == false }
    try store.expect(
      #Predicate<Errand> { $0.courier?.name == "Ben" }
    ) { $0.courier?.name == "Ben" }
    try store.expect(
      #Predicate<Errand> { $0.courier?.nickname == nil }
    ) { $0.courier?.nickname == nil }
    try store.expect(
      #Predicate<Errand> { ($0.note ?? "none") == "none" }
    ) { ($0.note ?? "none") == "none" }
    try store.expect(
      #Predicate<Errand> { ($0.note ?? $0.courier?.nickname) == nil }
    ) { ($0.note ?? $0.courier?.nickname) == nil }
    try store.expect(
      #Predicate<Errand> { $0.floor.flatMap { $0 + 1 } == 2 }
    ) { $0.floor.flatMap { $0 + 1 } == 2 }
    try store.expect(
      #Predicate<Errand> { $0.floor.map { $0 > 1 } ?? false }
    ) { $0.floor.map { $0 > 1 } ?? false }
    try store.expect(
      #Predicate<Errand> { $0.courier == nil || $0.courier!.name == "Ben" }
    ) { $0.courier == nil || $0.courier!.name == "Ben" }
    try store.expect(
      #Predicate<Errand> { ($0.floor ?? $0.number) > 2 }
    ) { ($0.floor ?? $0.number) > 2 }
    try store.expect(
      #Predicate<Errand> { $0.due ?? .distantPast > Date(timeIntervalSinceReferenceDate: 0) }
    ) { $0.due ?? .distantPast > Date(timeIntervalSinceReferenceDate: 0) }
  }

  @Test func collections() throws {
    let wanted = "food"
    try store.expect(
      #Predicate<Errand> { $0.tags.contains(wanted) }
    ) { $0.tags.contains(wanted) }
    try store.expect(
      #Predicate<Errand> { $0.tags.contains { $0.hasPrefix("d") } }
    ) { $0.tags.contains { $0.hasPrefix("d") } }
    try store.expect(
      #Predicate<Errand> { $0.tags.allSatisfy { $0 == "food" } }
    ) { $0.tags.allSatisfy { $0 == "food" } }
    try store.expect(
      #Predicate<Errand> { $0.tags.filter { $0 != "food" }.count == 1 }
    ) { $0.tags.filter { $0 != "food" }.count == 1 }
    try store.expect(
      #Predicate<Errand> { $0.tags.isEmpty }
    ) { $0.tags.isEmpty }
    try store.expect(
      #Predicate<Errand> { $0.tags.first == "food" }
    ) { $0.tags.first == "food" }
    try store.expect(
      #Predicate<Errand> { $0.tags.max() == "food" && $0.tags.min() == "daily" }
    ) { $0.tags.max() == "food" && $0.tags.min() == "daily" }
    try store.expect(
      #Predicate<Errand> { $0.courier?.errands.contains { $0.isDone } ?? false }
    ) { $0.courier?.errands.contains { $0.isDone } ?? false }
    try store.expect(
      #Predicate<Errand> { $0.title.contains("bread") || $0.title.starts(with: "A") }
    ) { $0.title.contains("bread") || $0.title.starts(with: "A") }
    try store.expect(
      #Predicate<Courier> {
        $0.errands.contains(where: { errand in errand.isDone && errand.tags.contains("daily") })
      }
    ) { $0.errands.contains(where: { errand in errand.isDone && errand.tags.contains("daily") }) }
    try store.expect(
      #Predicate<Courier> { $0.errands.filter { !$0.isDone }.count == 1 }
    ) { $0.errands.filter { !$0.isDone }.count == 1 }
    try store.expect(
      #Predicate<Courier> { $0.errands.allSatisfy { $0.number < 3 } && !$0.errands.isEmpty }
    ) { $0.errands.allSatisfy { $0.number < 3 } && !$0.errands.isEmpty }
    try store.expect(
      #Predicate<Courier> { $0.errands.count(where: { $0.number > 2 }) == 1 }
    ) { $0.errands.count(where: { $0.number > 2 }) == 1 }
    try store.expect(
      #Predicate<Courier> { $0.errands.first(where: { $0.number == 2 })?.title == "buy milk" }
    ) { $0.errands.first(where: { $0.number == 2 })?.title == "buy milk" }
  }

  @Test func types() throws {
    try store.expect(
      #Predicate<Errand> { $0 is FarErrand }
    ) { $0 is FarErrand }
    try store.expect(
      #Predicate<Errand> { ($0 as? FarErrand)?.distance == 9 }
    ) { ($0 as? FarErrand)?.distance == 9 }
    try store.expect(
      #Predicate<Errand> { !($0 is FarErrand) && $0.number > 2 }
    ) { !($0 is FarErrand) && $0.number > 2 }
  }

  @Test func `predicates within predicates`() throws {
    let done = #Predicate<Errand> { $0.isDone }
    let ofAnna = #Predicate<Errand> { $0.courier?.name == "Anna" && !done.evaluate($0) }
    try store.expect(#Predicate<Errand> { ofAnna.evaluate($0) || $0.number == 5 }) {
      $0.number == 2 || $0.number == 5
    }
    try store.expect(#Predicate<Courier> { $0.errands.contains { done.evaluate($0) } }) {
      $0.name == "Anna"
    }
    let double = #Expression<Errand, Int> { $0.number * 2 }
    try store.expect(#Predicate<Errand> { double.evaluate($0) > 6 }) { $0.number > 3 }
  }

  @Test func `key paths and identifiers`() throws {
    let path: any KeyPath<Errand, String> & Sendable = \.title
    try store.expect(#Predicate<Errand> { $0[keyPath: path] == "Anna" }) { $0.title == "Anna" }
    let identifier = store.anna.persistentModelID
    try store.expect(#Predicate<Errand> { $0.courier?.persistentModelID == identifier }) {
      $0.number < 3
    }
    let identifiers: Set = [store.errands[0].persistentModelID, store.errands[4].persistentModelID]
    try store.expect(#Predicate<Errand> { identifiers.contains($0.persistentModelID) }) {
      $0.number == 1 || $0.number == 5
    }
  }

  /// A captured optional is unwrapped only where the predicate gets to it, as in Swift.
  @Test func `unwrapping waits behind its test`() throws {
    let none: String? = nil
    try store.expect(#Predicate<Errand> { none == nil || $0.title == none! }) { _ in true }
    try store.expect(#Predicate<Errand> { none != nil && $0.title.count == none!.count }) { _ in
      false
    }
    let some: String? = "Anna"
    try store.expect(#Predicate<Errand> { some == nil || $0.title == some! }) { $0.number == 4 }
  }

  @Test func captures() throws {
    var calls = 0
    func limit() -> Int {
      calls += 1
      return 3
    }
    let predicate = #Predicate<Errand> { [most = limit()] errand in errand.number < most }
    try store.expect(predicate) { $0.number < 3 }
    #expect(calls == 1)
    let names = ["bread", "milk"]
    try store.expect(
      #Predicate<Errand> { names.map { "Buy \($0)" }.contains($0.title) && $0.number > 0 }
    ) { $0.number == 1 }
  }

  @Test func `contexts give the type`() throws {
    let descriptor = FetchDescriptor<Errand>(predicate: #Predicate { $0.isDone })
    #expect(try store.context.fetch(descriptor).map(\.number) == [1])
    let typed = #Predicate { (errand: Errand) in errand.isDone }
    try store.expect(typed) { $0.isDone }
    let pair = #Predicate<Errand, Courier> { $0.courier == $1 }
    #expect(try pair.evaluate(store.errands[2], store.ben))
    #expect(try !pair.evaluate(store.errands[2], store.anna))
  }
}
