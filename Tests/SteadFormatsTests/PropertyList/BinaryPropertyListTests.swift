import Foundation
import Testing

@testable import SteadFormats

struct BinaryPropertyListTests {
  @Test(arguments: 0..<40)
  func `what was written is read`(seed: UInt64) throws {
    var generator = PropertyListGenerator(seed: seed)
    for _ in 0..<25 {
      let value = generator.value()
      #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(value)) == value)
    }
  }

  @Test func `fields are visited in their order`() throws {
    let fields: [PropertyList.Fields.Field] = [
      .init("b", .integer(1)), .init("a", .array([.bool(true)])), .init("", .string("b")),
    ]
    var visited: [PropertyList.Fields.Field] = []
    try BinaryPropertyList.encode(fields).withUnsafeBytes { bytes in
      try BinaryPropertyList.decode(bytes) { visited.append(.init($0, $1)) }
    }
    #expect(visited == fields)
  }

  @Test func `only a dictionary can be visited`() throws {
    let array = try BinaryPropertyList.encode(.array([.integer(1)]))
    let error = #expect(throws: PropertyListError.self) {
      try array.withUnsafeBytes { try BinaryPropertyList.decode($0) { _, _ in } }
    }
    #expect(error?.code == .notADictionary)
  }

  @Test func `parts of a second stay bit for bit`() throws {
    for bits: UInt64 in [0x41C8_1234_5678_9ABC, 0x3FB9_9999_9999_999A, 0x0000_0000_0000_0001] {
      let date = Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
      guard
        case .date(let read) = try BinaryPropertyList.decode(BinaryPropertyList.encode(.date(date)))
      else { throw PropertyListError.damaged("not a date", at: nil) }
      #expect(read.timeIntervalSinceReferenceDate.bitPattern == bits)
    }
  }

  /// A file with few distinct scalars can name its objects with fewer bytes than it has values.
  @Test func `references are as small as the objects allow`() throws {
    let same = PropertyList.array(Array(repeating: .string("the same"), count: 70_000))
    let data = try BinaryPropertyList.encode(same)
    #expect(data[data.count - 32 + 7] == 1)
    #expect(data.count < 70_100)
    #expect(try BinaryPropertyList.decode(data) == same)
    for count in [254, 255, 256, 65_534, 65_535, 65_536] {
      let list = PropertyList.array((0..<count).map { .integer(Int64($0) + 1_000_000) })
      #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(list)) == list)
    }
  }

  /// Foundation takes two spellings of "é" for one text, and off Apple it finds equal numbers only, so
  /// other scalars are here once.
  @Test(arguments: 0..<20)
  func `Foundation reads it and writes the same bytes`(seed: UInt64) throws {
    var generator = PropertyListGenerator(seed: seed)
    generator.isPortable = true
    var fields = PropertyList.Fields()
    while fields.count < 300 {
      let key = "key \(generator.next())"
      switch generator.value(depth: 0) {
      case .bool, .date, .data: continue
      case .string: fields[key] = .string("text of \(key)")
      case let number: fields[key] = number
      }
    }
    let object = try PropertyListSerialization.propertyList(
      from: BinaryPropertyList.encode(fields), format: nil)
    let theirs = try PropertyListSerialization.data(
      fromPropertyList: object, format: .binary, options: 0)
    var order: [PropertyList.Fields.Field] = []
    try theirs.withUnsafeBytes { try BinaryPropertyList.decode($0) { order.append(.init($0, $1)) } }
    #expect(PropertyList.Fields(order) == fields)
    #expect(try BinaryPropertyList.encode(order) == theirs)
  }
}
