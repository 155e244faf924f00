import Foundation
import SteadFormats
import Testing
@testable import SteadPreferences

struct RecordValueTests {
  @Test(arguments: 0..<40)
  func `what was written is read`(seed: UInt64) throws {
    var generator = PropertyListGenerator(seed: seed)
    for _ in 0..<25 {
      let value = generator.value()
      let bytes = try RecordValue.bytes(of: value)
      let read = try bytes.withUnsafeBytes { try RecordValue.decode($0) }
      #expect(read.value == value)
      #expect(read.byteCount == bytes.count)
    }
  }

  @Test func `a value says where it ends`() throws {
    let values: [PropertyList] = [
      .integer(-129), .string("x"), .bool(false), .array([.bool(true)]),
    ]
    var bytes = try values.flatMap { try RecordValue.bytes(of: $0) }[...]
    for value in values {
      let read = try bytes.withUnsafeBytes { try RecordValue.decode($0) }
      #expect(read.value == value)
      bytes = bytes.dropFirst(read.byteCount)
    }
    #expect(bytes.isEmpty)
  }

  /// Journals live longer than the program that wrote them.
  @Test func `the bytes are the documented ones`() throws {
    #expect(try RecordValue.bytes(of: .bool(false)) == [0x00])
    #expect(try RecordValue.bytes(of: .bool(true)) == [0x01])
    #expect(try RecordValue.bytes(of: .integer(-1)) == [0x10, 0xFF])
    #expect(try RecordValue.bytes(of: .integer(128)) == [0x11, 0x80, 0x00])
    #expect(try RecordValue.bytes(of: .integer(65_536)) == [0x12, 0, 0, 1, 0])
    #expect(
      try RecordValue.bytes(of: .integer(.min)) == [0x13, 0, 0, 0, 0, 0, 0, 0, 0x80])
    #expect(
      try RecordValue.bytes(of: .unsignedInteger(.max)) == [0x14] + Array(repeating: 0xFF, count: 8)
    )
    #expect(try RecordValue.bytes(of: .float(1)) == [0x20, 0, 0, 0x80, 0x3F])
    #expect(try RecordValue.bytes(of: .double(1)) == [0x21, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
    #expect(
      try RecordValue.bytes(of: .date(Date(timeIntervalSinceReferenceDate: 1)))
        == [0x30, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
    #expect(try RecordValue.bytes(of: .data(Data([7, 8]))) == [0x40, 2, 7, 8])
    #expect(try RecordValue.bytes(of: .string("\u{E9}")) == [0x50, 2, 0xC3, 0xA9])
    #expect(try RecordValue.bytes(of: .array([.bool(true)])) == [0x60, 1, 0x01])
    #expect(try RecordValue.bytes(of: .dictionary(["k": .bool(true)])) == [0x70, 1, 1, 0x6B, 0x01])
    #expect(
      try RecordValue.bytes(of: .data(Data(count: 300))).prefix(3) == [0x40, 0xAC, 0x02])
  }

  @Test func `bytes that are cut off are refused`() throws {
    var generator = PropertyListGenerator(seed: 7)
    for _ in 0..<20 {
      let bytes = try RecordValue.bytes(of: .dictionary(generator.fields()))
      for count in bytes.indices {
        #expect(throws: PropertyListError.self) {
          try bytes[..<count].withUnsafeBytes { try RecordValue.decode($0) }
        }
      }
    }
  }

  @Test func `forged counts and tags are refused`() throws {
    let forged: [[UInt8]] = [
      [0x40, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x60, 0xFF, 0xFF, 0x7F, 0x00],
      [0x70, 0x02, 0x00, 0x00],
      [0x50] + Array(repeating: 0xFF, count: 12), [0x50, 1, 0xFF], [0x02], [0xFF], [],
    ]
    for bytes in forged {
      #expect(throws: PropertyListError.self) {
        try bytes.withUnsafeBytes { try RecordValue.decode($0) }
      }
    }
  }

  @Test(arguments: 0..<10)
  func `bytes of chance are refused or read`(seed: UInt64) throws {
    var generator = PropertyListGenerator(seed: seed)
    for _ in 0..<1_000 {
      var data = Data(try RecordValue.bytes(of: .dictionary(generator.fields(depth: 1))))
      for _ in 0..<Int.random(in: 1...4, using: &generator) { data.mutate(using: &generator) }
      do {
        let read = try data.withUnsafeBytes { try RecordValue.decode($0) }
        #expect(read.byteCount <= data.count)
      } catch is PropertyListError {}
    }
  }

  @Test func `nesting has a limit`() throws {
    var value = PropertyList.bool(true)
    for _ in 0..<RecordValue.maximumDepth { value = .array([value]) }
    let bytes = try RecordValue.bytes(of: value)
    #expect(try bytes.withUnsafeBytes { try RecordValue.decode($0) }.value == value)
    let tooDeep = #expect(throws: PropertyListError.self) {
      try RecordValue.byteCount(of: .array([value]))
    }
    #expect(tooDeep?.code == .tooDeep)
    let bomb = (0..<200_000).map { UInt8($0 % 2 == 0 ? 0x60 : 0x01) }
    let refused = #expect(throws: PropertyListError.self) {
      try bomb.withUnsafeBytes { try RecordValue.decode($0) }
    }
    #expect(refused?.code == .tooDeep)
  }
}

extension RecordValue {
  fileprivate static func bytes(of value: PropertyList) throws -> [UInt8] {
    let count = try byteCount(of: value)
    return [UInt8](unsafeUninitializedCapacity: count) { space, written in
      written = encode(value, into: UnsafeMutableRawBufferPointer(space))
    }
  }
}

/// A value of 256 levels was accepted, and the property list with it had 257. So no compaction succeeded from then on,
/// and the journal grew.
struct NestingTests {
  @Test(
    arguments: [1, 2, 200, 254, 255, 256, 257, 300],
    [PropertyList.Format.binary, PropertyList.Format.xml])
  func `a value that is accepted can be published, however it is nested`(
    levels: Int, format: PropertyList.Format
  ) throws {
    for isArray in [true, false] {
      let directory = try TemporaryDirectory()
      var options = DomainStore.Options()
      options.format = format
      let store = try DomainStore("app", directory: directory.url, options: options)
      var value = PropertyList.string("innermost")
      for _ in 0..<levels { value = isArray ? .array([value]) : .dictionary(["k": value]) }
      do {
        try store.set(value, forKey: "deep")
        #expect(levels <= 255)
      } catch {
        #expect(levels > 255)
        let code = PreferencesError(error, domain: nil).code
        #expect(code == .notAPropertyList)
      }
      try store.set(.integer(1), forKey: "other")
      try store.checkpoint()
      let expected = levels <= 255 ? value : nil
      let other = try DomainStore("app", directory: directory.url, options: options)
      #expect(other.value(forKey: "deep") == expected)
      let data = try Data(contentsOf: directory.file("app.plist"))
      #expect(try PropertyList.fields(of: data)["deep"] == expected)
    }
  }
}
