import Foundation
import SwiftData
import Testing

/// What Foundation's macro refuses and ours accepts.
struct OwnFormTests {
  private let store: ErrandStore

  init() throws { store = try ErrandStore() }

  @Test func texts() throws {
    let part = "AN"
    try store.expect(
      #Predicate<Errand> { $0.title.hasPrefix("Buy") }
    ) { $0.title.hasPrefix("Buy") }
    try store.expect(
      #Predicate<Errand> { $0.title.hasSuffix("milk") || $0.note?.hasSuffix("a") == true }
    ) { $0.title.hasSuffix("milk") || $0.note?.hasSuffix("a") == true }
    try store.expect(
      #Predicate<Errand> { $0.title.lowercased() == "buy bread" }
    ) { $0.title.lowercased() == "buy bread" }
    try store.expect(
      #Predicate<Errand> { $0.title.uppercased().contains("BUY") }
    ) { $0.title.uppercased().contains("BUY") }
    try store.expect(
      #Predicate<Errand> { $0.title.localizedStandardContains(part) }
    ) { $0.title.localizedStandardContains(part) }
    try store.expect(
      #Predicate<Errand> { $0.title.localizedStandardContains("CAFÉ") }
    ) { $0.title.localizedStandardContains("CAFÉ") }
    try store.expect(
      #Predicate<Errand> { $0.note?.localizedStandardContains("creme") == true }
    ) { $0.note?.localizedStandardContains("creme") == true }
    try store.expect(
      #Predicate<Errand> { $0.note?.localizedCaseInsensitiveContains("crème") ?? false }
    ) { $0.note?.localizedCaseInsensitiveContains("crème") ?? false }
    try store.expect(
      #Predicate<Errand> { $0.note?.localizedCaseInsensitiveContains("creme") != true }
    ) { $0.note?.localizedCaseInsensitiveContains("creme") != true }
    try store.expect(
      #Predicate<Errand> { $0.title.caseInsensitiveCompare("BUY MILK") == .orderedSame }
    ) { $0.title.caseInsensitiveCompare("BUY MILK") == .orderedSame }
    try store.expect(
      #Predicate<Errand> { $0.title.localizedCompare("B") == .orderedAscending }
    ) { $0.title.localizedCompare("B") == .orderedAscending }
    try store.expect(
      #Predicate<Errand> { $0.note?.localizedStandardCompare("anna") == .orderedSame }
    ) { $0.note?.localizedStandardCompare("anna") == .orderedSame }
    try store.expect(
      #Predicate<Errand> { $0.title == "Caf\u{E9}" }
    ) { $0.title == "Caf\u{E9}" }
    try store.expect(
      #Predicate<Errand> { !$0.title.isEmpty && "Anna Buy".contains($0.title) }
    ) { !$0.title.isEmpty && "Anna Buy".contains($0.title) }
    try store.expect(
      #Predicate<Errand> { "Anna".hasPrefix($0.title) }
    ) { "Anna".hasPrefix($0.title) }
  }

  @Test func dates() throws {
    let now = Date.now
    try store.expect(
      #Predicate<Errand> { $0.due == nil || $0.due! > Date.now }
    ) { $0.due == nil || $0.due! > Date.now }
    try store.expect(
      #Predicate<Errand> { $0.due.map { $0 < now } == true }
    ) { $0.due.map { $0 < now } == true }
    try store.expect(
      #Predicate<Errand> { $0.due != nil && $0.due! > now.addingTimeInterval(60) }
    ) { $0.due != nil && $0.due! > now.addingTimeInterval(60) }
  }

  @Test func enums() throws {
    let wanted = Urgency.high
    try store.expect(
      #Predicate<Errand> { $0.urgency == .high }
    ) { $0.urgency == .high }
    try store.expect(
      #Predicate<Errand> { $0.urgency != Urgency.high }
    ) { $0.urgency != Urgency.high }
    try store.expect(
      #Predicate<Errand> { $0.formerUrgency == .low }
    ) { $0.formerUrgency == .low }
    try store.expect(
      #Predicate<Errand> { $0.formerUrgency != .low }
    ) { $0.formerUrgency != .low }
    try store.expect(
      #Predicate<Errand> { $0.formerUrgency == nil }
    ) { $0.formerUrgency == nil }
    try store.expect(
      #Predicate<Errand> { $0.urgency == wanted || $0.formerUrgency == wanted }
    ) { $0.urgency == wanted || $0.formerUrgency == wanted }
    try store.expect(
      #Predicate<Errand> { [Urgency.low, .high].contains($0.urgency) }
    ) { [Urgency.low, .high].contains($0.urgency) }
    try store.expect(
      #Predicate<Errand> { $0.urgency.rawValue == "high" }
    ) { $0.urgency.rawValue == "high" }
    try store.expect(
      #Predicate<Errand> { $0.formerUrgency?.rawValue == "high" }
    ) { $0.formerUrgency?.rawValue == "high" }
    try store.expect(
      #Predicate<Errand> { $0.urgency == ($0.isDone ? .high : .low) }
    ) { $0.urgency == ($0.isDone ? .high : .low) }
  }

  @Test func relationships() throws {
    let (anna, ben) = (store.anna, store.ben)
    let none: Courier? = nil
    let errands = [store.errands[0], store.errands[2]]
    try store.expect(
      #Predicate<Errand> { $0.courier == nil }
    ) { $0.courier == nil }
    try store.expect(
      #Predicate<Errand> { $0.courier != nil }
    ) { $0.courier != nil }
    try store.expect(
      #Predicate<Errand> { $0.courier == anna }
    ) { $0.courier == anna }
    try store.expect(
      #Predicate<Errand> { $0.courier != anna }
    ) { $0.courier != anna }
    try store.expect(
      #Predicate<Errand> { ben == $0.courier }
    ) { ben == $0.courier }
    try store.expect(
      #Predicate<Errand> { $0.courier == none }
    ) { $0.courier == none }
    try store.expect(
      #Predicate<Errand> { $0.courier != none }
    ) { $0.courier != none }
    try store.expect(
      #Predicate<Errand> { $0.courier?.name == anna.name }
    ) { $0.courier?.name == anna.name }
    try store.expect(
      #Predicate<Courier> { [anna].contains($0) }
    ) { [anna].contains($0) }
    try store.expect(
      #Predicate<Errand> { errands.contains($0) }
    ) { errands.contains($0) }
    try store.expect(
      #Predicate<Courier> { $0.errands.contains(errands[0]) }
    ) { $0.errands.contains(errands[0]) }
  }

  @Test func composites() throws {
    try store.expect(
      #Predicate<Errand> { $0.stop.city == "Köln" }
    ) { $0.stop.city == "Köln" }
    try store.expect(
      #Predicate<Errand> { $0.stop.floor > 1 }
    ) { $0.stop.floor > 1 }
    try store.expect(
      #Predicate<Errand> { $0.stop.city.hasPrefix("B") }
    ) { $0.stop.city.hasPrefix("B") }
  }

  @Test func `values that are optional outside`() throws {
    let title: String? = "Anna"
    let nothing: String? = nil
    try store.expect(
      #Predicate<Errand> { $0.title == title }
    ) { $0.title == title }
    try store.expect(
      #Predicate<Errand> { $0.title != nothing }
    ) { $0.title != nothing }
    try store.expect(
      #Predicate<Errand> { nothing == $0.title }
    ) { nothing == $0.title }
    try store.expect(
      #Predicate<Errand> { $0.note == title }
    ) { $0.note == title }
    try store.expect(
      #Predicate<Errand> { $0.note == nothing }
    ) { $0.note == nothing }
  }

  @Test func `Foundation's macro finds the builder of localizedStandardContains`() throws {
    let base = PredicateExpressions.build_Arg("Crème")
    let other = PredicateExpressions.build_Arg("CREME")
    let predicate = Foundation.Predicate<Int> { _ in
      PredicateExpressions.build_localizedStandardContains(base, other)
    }
    #expect(try predicate.evaluate(1))
    #expect(try #Predicate<String> { $0.localizedStandardContains("creme") }.evaluate("A CRÈME"))
  }

  /// Sixteen terms with optional chains compile, and mean what they say.
  @Test func `sixteen terms under the name of its own`() throws {
    try store.expect(
      #ModelPredicate<Errand> {
        $0.note?.contains("a") == true || $0.courier?.name == "Anna" || $0.note?.isEmpty == true
          || $0.courier?.nickname?.hasPrefix("Ä") == true || $0.floor == 7
          || $0.note?.hasPrefix("b") == true || $0.courier?.name.hasSuffix("x") == true
          || $0.note?.count == 40 || $0.courier?.nickname?.count == 9
          || $0.note?.contains("q") == true || $0.courier?.name == "Zoe"
          || $0.note?.lowercased() == "zzz" || $0.courier?.nickname == "Zed"
          || $0.note?.hasSuffix("!") == true || $0.courier?.name.contains("?") == true
          || $0.courier?.errands.isEmpty == true
      }
    ) { $0.note?.contains("a") == true || $0.courier?.name == "Anna" || $0.note == "" }
  }
}
