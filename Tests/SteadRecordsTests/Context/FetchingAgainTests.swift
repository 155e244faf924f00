import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// A fetch of objects that are mostly loaded reads the numbers of the rows first, and then only the rows that
/// are missing or outdated.
@Suite("Fetching again what is loaded") struct FetchingAgainTests {
  private static let count = 1_000

  private func filled(_ place: StorePlace) throws -> TestStore {
    let store = try TestStore(place, Club.self, Member.self, Skill.self)
    let context = store.context()
    for number in 0..<Self.count { context.insert(Club(name: "\(number)")) }
    try context.save()
    return store
  }

  private func names(_ clubs: [Club]) -> [String] { clubs.map(\.name) }

  @Test(arguments: StorePlace.allCases)
  func `gives the same objects in the same order`(_ place: StorePlace) throws {
    let context = try filled(place).context()
    let first = try context.all(Club.self)
    let second = try context.all(Club.self)
    #expect(first.elementsEqual(second) { $0 === $1 })
    #expect(names(second) == (0..<Self.count).map(String.init))
  }

  @Test(arguments: [1, 3, 7])
  func `reads missing rows in their places`(each: Int) throws {
    let context = try filled(.file).context()
    let kept = try context.all(Club.self).enumerated().filter { $0.offset % each != 0 }.map(
      \.element)
    let again = try context.all(Club.self)
    #expect(names(again) == (0..<Self.count).map(String.init))
    #expect(kept.allSatisfy { club in again.contains { $0 === club } })
  }

  @Test(arguments: StorePlace.allCases)
  func `sees what another context has changed, inserted and deleted`(_ place: StorePlace) throws {
    let store = try filled(place)
    let context = store.context()
    let loaded = try context.all(Club.self)
    let other = store.context()
    let clubs = try other.all(Club.self)
    clubs[10].name = "changed"
    other.delete(clubs[20])
    other.insert(Club(name: "new"))
    try other.save()
    let again = try context.all(Club.self)
    #expect(again.count == Self.count)
    #expect(again[10] === loaded[10] && again[10].name == "changed")
    #expect(!again.contains { $0 === loaded[20] })
    #expect(again.last?.name == "new")
  }

  @Test func `sees another process's changes, after which every object is outdated`() throws {
    let store = try filled(.file)
    let context = store.context()
    let loaded = try context.all(Club.self)
    let writer = try StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
    try writer.execute("UPDATE \"Club\" SET name = 'other' WHERE \"_id\" = 5")
    let again = try context.all(Club.self)
    #expect(again.elementsEqual(loaded) { $0 === $1 })
    #expect(again[4].name == "other")
  }

  @Test(arguments: StorePlace.allCases)
  func `counts unsaved changes`(_ place: StorePlace) throws {
    let context = try filled(place).context()
    let loaded = try context.all(Club.self)
    loaded[0].name = "pending"
    context.delete(loaded[1])
    context.insert(Club(name: "new"))
    let again = try context.all(Club.self)
    #expect(again.count == Self.count)
    #expect(again.contains { $0 === loaded[0] } && !again.contains { $0 === loaded[1] })
  }

  /// Neighbouring rows are deleted as a range.
  @Test(arguments: StorePlace.allCases)
  func `deleted neighbours are gone, and no others`(_ place: StorePlace) throws {
    let store = try filled(place)
    let context = store.context()
    let loaded = try context.all(Club.self)
    let gone = Array(loaded[100..<200]) + [loaded[300], loaded[302]]
    var random = SplitMix(seed: Effort.seed)
    for club in gone.shuffled(using: &random) { context.delete(club) }
    try context.save()
    let left = (0..<Self.count).filter { !(100..<200).contains($0) && $0 != 300 && $0 != 302 }
    #expect(names(try store.reopened().all(Club.self)) == left.map(String.init))
    #expect(gone.allSatisfy { $0.modelContext == nil })
  }
}
