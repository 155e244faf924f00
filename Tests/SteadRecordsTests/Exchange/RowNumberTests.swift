import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// Whatever deletes rows or pairs.
@Suite("Numbers of deleted rows") struct RowNumberTests {
  enum Deletion: String, CaseIterable {
    case save, predicate, exchange, removal, restoration, erasure
  }

  /// Restoring a store did not keep the numbers of the rows that it took away, so that an identifier led to another
  /// object.
  @Test(arguments: Deletion.allCases)
  func `are not given out again`(_ deletion: Deletion) throws {
    let context = try TestStore(Parcel.self).keepingOldValues()
    let container = context.container
    context.insert(Parcel(weight: 1))
    try context.save()
    let before = try #require(try context.fetchHistory(Transactions()).last?.token)
    let parcel = Parcel(weight: 2)
    context.insert(parcel)
    try context.save()
    let identifier = parcel.persistentModelID
    let rows = try #require(StoreRows(container))
    let shape = try #require(rows.shapes["Parcel"])
    switch deletion {
    case .save:
      context.delete(parcel)
      try context.save()
    case .predicate: try context.delete(model: Parcel.self, where: #Predicate { $0.weight == 2 })
    case .exchange: try rows.apply(by: "test") { try $0.delete(identifier.row, of: shape) }
    case .removal: try rows.apply(by: "test") { try $0.remove([(shape, identifier.row)]) }
    case .restoration: try container.restore(to: before)
    case .erasure: try container.erase()
    }
    let other = ModelContext(container)
    #expect(try other.count(Parcel.self) == (deletion == .erasure ? 0 : 1))
    let new = Parcel(weight: 3)
    other.insert(new)
    try other.save()
    #expect(new.persistentModelID != identifier)
    #expect(new.persistentModelID.row == identifier.row + 1)
  }

  /// A pair that another device had added got the number that SQLite gives, which was the place of another pair.
  @Test func `a pair that is written again comes last`() throws {
    let store = try UpkeepStore()
    let context = store.store.context()
    let driver = try context.only(Driver.self)
    driver.garage.reverse()
    try context.save()
    try #require(driver.garage.map(\.name) == ["mini", "big"])
    let rows = try #require(StoreRows(store.container))
    let list = try #require(rows.shapes["Driver"]?.ownedPairs.first?.list)
    let pair = RowPair(
      owner: driver.persistentModelID.row, target: driver.garage[0].persistentModelID.row,
      ownerOrder: nil, targetOrder: nil)
    try rows.apply(by: "test") {
      try $0.remove(pair, from: list)
      try $0.insert(pair, into: list)
    }
    let check = try store.container.check()
    #expect(check.problems.isEmpty, "\(check)")
    let stored = try store.store.context().only(Driver.self)
    #expect(stored.garage.map(\.name) == ["big", "mini"])
  }
}
