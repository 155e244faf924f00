import Foundation
import SwiftData
import Testing

// A column of type REAL holds whole numbers as integers, of which none is negative zero.
@Suite("negative zero") struct NegativeZeroTests {
  @Test(arguments: StorePlace.allCases)
  func `P1 negative zero keeps its sign and equals zero`(_ place: StorePlace) throws {
    let store = try TestStore(place, ZeroValues.self)
    let context = store.context()
    context.insert(ZeroValues(-0.0))
    context.insert(ZeroValues(0.0))
    try context.save()
    let reader = try store.reopened()
    let stored = try reader.fetch(
      FetchDescriptor<ZeroValues>(sortBy: [SortDescriptor(\.number)]))
    #expect(stored.map(\.double.sign) == [.minus, .plus])
    #expect(stored.map(\.float.sign) == [.minus, .plus])
    #expect(stored.map(\.cgFloat.sign) == [.minus, .plus])
    #expect(stored.map(\.optional?.sign) == [.minus, .plus])
    #expect(stored.map(\.nested.value.sign) == [.minus, .plus])
    #expect(stored.map(\.list.first?.sign) == [.minus, .plus])
    let zeros = try reader.fetchCount(
      FetchDescriptor<ZeroValues>(predicate: #Predicate { $0.double == 0 && $0.float >= 0 }))
    #expect(zeros == 2)
    let negative = try reader.fetchCount(
      FetchDescriptor<ZeroValues>(predicate: #Predicate { $0.double < 0 }))
    #expect(negative == 0)
  }
}

struct ZeroBox: Codable {
  var value: Double
}

@Model final class ZeroValues {
  var number: Int
  var double: Double
  var float: Float
  var cgFloat: CGFloat
  var optional: Double?
  var nested: ZeroBox
  var list: [Double]

  init(_ zero: Double) {
    number = zero.sign == .minus ? 0 : 1
    double = zero
    float = Float(zero)
    cgFloat = CGFloat(zero)
    optional = zero
    nested = ZeroBox(value: zero)
    list = [zero]
  }
}
