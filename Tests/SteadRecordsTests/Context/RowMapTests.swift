import Testing

@testable import SteadRecords

@Suite struct RowMapTests {
  /// The map only hands states back, so any address will do.
  private func state(_ number: Int64) throws -> RowMap.State {
    try #require(RowMap.State(bitPattern: Int(number) * 16))
  }

  @Test(arguments: [10, 100, 3_000, Int64.max / 32])
  func `agrees with a dictionary`(range: Int64) throws {
    var random = SplitMix(seed: 0x5EED)
    var map = RowMap()
    defer { map.deallocate() }
    var model: [Int64: RowMap.State] = [:]
    for _ in 0..<20_000 {
      let row = Int64.random(in: 1...range, using: &random)
      let new = try state(Int64.random(in: 1...1_000_000, using: &random))
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        map.insert(new, for: row)
        model[row] = new
      case 1:
        let isNew = model[row] == nil
        #expect(map.insertNew(new, for: row) == isNew)
        if isNew { model[row] = new }
      default:
        // Rows that are there go as often as rows that are not.
        let gone = Bool.random(using: &random) ? model.keys.first ?? row : row
        map.remove(gone)
        model[gone] = nil
      }
      #expect(map.value(for: row) == model[row])
      #expect(map.count == model.count)
    }
    for (row, state) in model { #expect(map.value(for: row) == state) }
    var found = 0
    map.forEach { _ in found += 1 }
    #expect(found == model.count)
  }
}
