import Foundation
import Synchronization
import Testing

@testable import SteadFormats

/// Files that are damaged, or made to do damage.
@Suite(.ownThread) struct HostilePropertyListTests {
  private static let sample: PropertyList = .dictionary([
    "bool": .bool(true), "integer": .integer(-3), "wide": .unsignedInteger(.max),
    "float": .float(0.5),
    "double": .double(0.1), "date": .date(Date(timeIntervalSinceReferenceDate: 12.5)),
    "data": .data(Data(0..<20)), "text": .string("a text that is longer than fifteen"),
    "\u{E9}\u{1F600}": .string("caf\u{E9} <&> \u{1F600}"),
    "uid": .dictionary(["CF$UID": .integer(7)]),
    "array": .array([.integer(300), .array([]), .dictionary(["bool": .bool(false)])]),
  ])

  private static func samples() throws -> [Data] {
    [try sample.data(), try sample.data(format: .xml)]
  }

  /// Reads what may be anything; what is read has to be good enough to be written and read again.
  private func readIfPossible(_ data: Data) throws {
    let list: PropertyList
    do { list = try PropertyList.parse(data) } catch is PropertyListError { return }
    #expect(try PropertyList.parse(list.data()) == list)
  }

  @Test func `a file cut off anywhere is refused or read`() throws {
    for sample in try Self.samples() {
      for count in 0..<sample.count { try readIfPossible(sample.prefix(count)) }
    }
    let binary = try Self.sample.data()
    for count in 0..<binary.count {
      #expect(throws: PropertyListError.self) { try PropertyList.parse(binary.prefix(count)) }
    }
  }

  @Test func `a file with any byte changed is refused or read`() throws {
    for sample in try Self.samples() {
      for index in sample.indices {
        for bit in 0..<8 {
          var changed = sample
          changed[index] ^= 1 << UInt8(bit)
          try readIfPossible(changed)
        }
      }
    }
  }

  /// Random changes, insertions, repetitions and cuts of good files.
  @Test(arguments: 0..<20)
  func `files of chance are refused or read`(seed: UInt64) throws {
    var generator = PropertyListGenerator(seed: seed)
    var samples = try Self.samples()
    while samples.count < 8 {
      let data = try PropertyList.dictionary(generator.fields(depth: 1)).data()
      if data.count < 300 { samples.append(data) }
    }
    for _ in 0..<Effort.times(2_000, long: 50_000) {
      var data = samples[Int.random(in: samples.indices, using: &generator)]
      for _ in 0..<Int.random(in: 1...4, using: &generator) { data.mutate(using: &generator) }
      _ = try? PropertyList.parse(data).data()
    }
  }

  @Test(arguments: ["<array>", "<dict><key>a</key>"])
  func `texts nested deeply are refused`(opening: String) throws {
    let data = Data(String(repeating: opening, count: 100_000).utf8)
    let error = #expect(throws: PropertyListError.self) {
      try onSmallStack { try PropertyList.parse(data) }
    }
    #expect(error?.code == .tooDeep)
  }

  @Test func `binaries nested deeply are refused`() throws {
    let count = 100_000
    let bomb = BinaryFile(objects: (1...count).map { [0xA1] + bigEndian($0) } + [[0x09]])
    let error = #expect(throws: PropertyListError.self) {
      try onSmallStack { try PropertyList.parse(bomb.data) }
    }
    #expect(error?.code == .tooDeep)
    let itself = BinaryFile(objects: [[0xA2] + bigEndian(0) + bigEndian(0)])
    #expect(throws: PropertyListError.self) {
      try onSmallStack { try PropertyList.parse(itself.data) }
    }
    let asKey = BinaryFile(objects: [[0xD1] + bigEndian(0) + bigEndian(0)])
    #expect(throws: PropertyListError.self) {
      try onSmallStack { try PropertyList.parse(asKey.data) }
    }
  }

  @Test func `the deepest list is read in all formats`() throws {
    var list = PropertyList.bool(true)
    for level in 0..<PropertyList.maximumDepth {
      list = level.isMultiple(of: 2) ? .array([list]) : .dictionary(["a": list])
    }
    let deepest = list
    for format in [PropertyList.Format.binary, .xml] {
      let read = try onSmallStack { try PropertyList.parse(deepest.data(format: format)) }
      #expect(read == deepest)
    }
    for format in [PropertyList.Format.binary, .xml] {
      let error = #expect(throws: PropertyListError.self) {
        try PropertyList.array([deepest]).data(format: format)
      }
      #expect(error?.code == .tooDeep)
    }
  }

  /// 40 arrays, each of which has the next ten times: 10^40 values in 2 KB.
  @Test func `shared containers that explode are refused`() throws {
    let levels = (1...40).map { level in
      [0xAA] + Array(repeatElement(bigEndian(level), count: 10).joined())
    }
    let bomb = BinaryFile(objects: levels + [[0x09]])
    let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(bomb.data) }
    #expect(error?.code == .tooLarge)
  }

  /// A text of 60 KB that an array has 100,000 times: 6 GB in half a megabyte, and in memory as little.
  @Test func `a shared text takes the memory of one`() throws {
    let count = 100_000
    let size = 60_000
    let array: [UInt8] =
      [0xAF, 0x12] + bigEndian(count) + Array(repeatElement(bigEndian(1), count: count).joined())
    let text: [UInt8] = [0x5F, 0x12] + bigEndian(size) + Array(repeating: 0x41, count: size)
    let file = BinaryFile(objects: [array, text])
    guard case .array(let elements) = try PropertyList.parse(file.data) else {
      Issue.record("no array")
      return
    }
    #expect(elements.count == count)
    #expect(elements.last == .string(String(repeating: "A", count: size)))
  }

  /// What the encoder writes once it reads however often it is there.
  @Test(arguments: [16, 1_000, 1_024, 2_000])
  func `equal texts without number are read`(length: Int)
    throws
  {
    let text = PropertyList.string(String(repeating: "x", count: length))
    let data = PropertyList.data(Data(count: length))
    let list = PropertyList.dictionary([
      "texts": .array(Array(repeating: text, count: 20_000)),
      "data": .array(Array(repeating: data, count: 20_000)),
    ])
    #expect(try PropertyList.parse(list.data(format: .binary)) == list)
  }

  @Test func `what is shared in moderation is read`() throws {
    let row: [UInt8] = [0xA2] + bigEndian(2) + bigEndian(3)
    let text = String(repeating: "long ", count: 20)
    let file = BinaryFile(objects: [
      [0xA3] + bigEndian(1) + bigEndian(1) + bigEndian(1), row,
      [0x5F, 0x10, 100] + Array(text.utf8), [0x09],
    ])
    let list = PropertyList.array([.string(text), .bool(true)])
    #expect(try PropertyList.parse(file.data) == .array([list, list, list]))
  }

  @Test func `forged sizes are refused`() throws {
    let forged: [[UInt8]] = [
      [0xAF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0xDF, 0x13, 0x40, 0, 0, 0, 0, 0, 0, 0],
      [0x4F, 0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x6F, 0x13, 0x40, 0, 0, 0, 0, 0, 0, 0], [0x5F, 0x14], [0x5F], [0x5F, 0x20],
      [0x6F, 0x10, 40],
      [0x15], [0x21], [0x32], [0x8F], [0x90], [0xB0], [0xC0], [0xE0], [0xF0], [0x00], [0x0F],
      [0x14, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0x51, 0xFF],
      [0xD1] + bigEndian(1) + bigEndian(1), [0xA1] + bigEndian(9),
    ]
    for object in forged {
      #expect(throws: PropertyListError.self) {
        try PropertyList.parse(BinaryFile(objects: [object, [0x09]]).data)
      }
    }
    for place in 0..<24 {
      var data = try Self.sample.data()
      data[data.count - 24 + place] = 0xFF
      #expect(throws: PropertyListError.self) { try PropertyList.parse(data) }
    }
  }

  /// Foundation's reader, which reads what is neither binary nor XML, takes such a file for a binary one,
  /// and some damaged ones crash it.
  @Test(arguments: ["1", "5", "x"])
  func `another version of the binary format is refused`(version: String) throws {
    var data = try PropertyList.dictionary(["a": .integer(1)]).data()
    data.replaceSubrange(7..<8, with: version.utf8)
    #expect(throws: PropertyListError.self) { try PropertyList.parse(data) }
  }

  @Test func `errors hold nothing of the file`() throws {
    for text in [
      "<string>hunter2</strin>", "<hunter2/>", "{ hunter2 = \"hunter2 }", "<date>hunter2</date>",
    ] {
      let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(text) }
      #expect(error?.description.contains("hunter2") == false)
    }
  }
}

/// A binary property list put together by hand, with references and offsets of 4 bytes.
private struct BinaryFile {
  var objects: [[UInt8]]

  var data: Data {
    var data = Data("bplist00".utf8)
    var offsets = Data()
    for object in objects {
      offsets += bigEndian(data.count)
      data += object
    }
    let table = data.count
    data += offsets
    data += [0, 0, 0, 0, 0, 0, 4, 4]
    for number in [objects.count, 0, table] { data += [0, 0, 0, 0] + bigEndian(number) }
    return data
  }
}

private func bigEndian(_ number: Int) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - $0 * 8)) }
}

/// Runs `body` on a thread with a quarter of the stack that Linux gives.
///
/// It is four times what Apple's systems give, since code that is not optimised takes four times more.
private func onSmallStack<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) throws -> Result {
  let box = ResultBox<Result>()
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    box.set(Swift.Result { try body() })
    done.signal()
  }
  thread.stackSize = 2 << 20
  thread.start()
  done.wait()
  return try #require(box.result).get()
}

private final class ResultBox<Value: Sendable>: Sendable {
  private let state = Mutex<Result<Value, any Error>?>(nil)
  var result: Result<Value, any Error>? { state.withLock { $0 } }
  func set(_ result: Result<Value, any Error>) { state.withLock { $0 = result } }
}
