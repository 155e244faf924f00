import Foundation
import SwiftData
import Testing

@testable import SteadTransfer

private enum Older {
  @Model final class Parcel {
    var number: Int
    var size: Size?
    init(_ number: Int) { self.number = number }
  }

  struct Size: Codable, Equatable { var width = 1 }
}

private enum Newer {
  struct Label: Codable, Equatable {
    var text = "none"
    var code = UUID()
  }

  @Model final class Parcel {
    var number: Int
    var size: Older.Size?
    var id: UUID = UUID()
    @Attribute(.unique) var key: String = UUID().uuidString
    var label = Label()
    var kind = "plain"
    var mark: UUID? = UUID()
    init(_ number: Int) { self.number = number }
  }
}

/// Default values such as `UUID()` of properties that a row's source lacks.
///
/// They were made once for all rows, which was wrong, and refused where they are unique.
@Suite struct RowDefaultTransferTests {
  private static let count = 20

  private func expect(in container: ModelContainer, isMarked: Bool = true) throws {
    let parcels = try ModelContext(container).fetch(FetchDescriptor<Newer.Parcel>())
    #expect(parcels.count == Self.count)
    #expect(Set(parcels.map(\.number)) == Set(1...Self.count))
    #expect(Set(parcels.map(\.id)).count == Self.count)
    #expect(Set(parcels.map(\.key)).count == Self.count)
    #expect(Set(parcels.map(\.label.code)).count == Self.count)
    #expect(parcels.allSatisfy { $0.kind == "plain" && $0.label.text == "none" })
    #expect(Set(parcels.compactMap(\.mark)).count == (isMarked ? Self.count : 0))
  }

  @Test func `rows of a store that lacks the properties each get their own`() throws {
    let old = try memoryContainer(Older.Parcel.self)
    let context = ModelContext(old)
    for number in 1...Self.count { context.insert(Older.Parcel(number)) }
    try context.save()
    let new = try memoryContainer(Newer.Parcel.self)
    let transfer = Transfer(
      "parcels", from: .store(old), to: TransferDestination(StoreDestination(new)))
    #expect(try transfer.run().moved == Self.count)
    try expect(in: new)
    #expect(try transfer.run().moved == 0)
  }

  /// - Parameter isThere: Whether the store has the columns, with NULL in all rows.
  @Test(arguments: [false, true])
  func `rows of a store of Core Data each get their own`(isThere: Bool) throws {
    let columns = isThere ? ", ZID BLOB, ZKEY VARCHAR, ZKIND VARCHAR, ZMARK BLOB" : ""
    let rows = (1...Self.count).map {
      "INSERT INTO ZPARCEL (Z_PK, Z_ENT, ZNUMBER) VALUES (\($0), 1, \($0));"
    }
    let fixture = try CoreDataFixture(
      entities: [.init(1, "Parcel")],
      """
      CREATE TABLE ZPARCEL (
        Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNUMBER INTEGER\(columns));
      \(rows.joined(separator: "\n"))
      """)
    let container = try memoryContainer(Newer.Parcel.self)
    var mapping = CoreDataMapping()
    mapping.acceptsDefaults = true
    let report = try fixture.importing(to: container, mapping: mapping).run()
    #expect(report.defaultedValues.isEmpty == !isThere)
    try expect(in: container, isMarked: !isThere)
  }
}
