import Foundation
import SteadFormats
import Testing

/// Archives out of stores that are not to be trusted.
@Suite struct PlainArchiveTests {
  /// An object of a binary property list.
  private enum Node {
    case text(String)
    case reference(Int)
    case array([Int])
    case dictionary([Int: Int])

    var bytes: [UInt8] {
      switch self {
      case .text(let text): [0x5F, 0x10, UInt8(text.utf8.count)] + text.utf8
      case .reference(let number): [0x80, UInt8(number)]
      case .array(let items):
        (items.count < 15 ? [0xA0 | UInt8(items.count)] : [0xAF, 0x10, UInt8(items.count)])
          + items.map { UInt8($0) }
      case .dictionary(let fields):
        [0xD0 | UInt8(fields.count)] + fields.map { UInt8($0.key) } + fields.map { UInt8($0.value) }
      }
    }
  }

  private func list(_ nodes: [Node], root: Int) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for node in nodes {
      offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
      bytes += node.bytes
    }
    let table = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [nodes.count, root, table] {
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
    return Data(bytes)
  }

  /// An archive of arrays, of which each holds the next one twice; the last one holds object `end`.
  ///
  /// Object 2 is the outermost array, and the one behind the last array a text.
  private func nested(depth: Int, end: Int, className: String = "NSArray") -> Data {
    var nodes: [Node] = [
      .text("$objects"), .text("$top"), .text("root"), .text("$class"), .text("NS.objects"),
      .text("$classname"), .text(className), .text("$null"), .dictionary([5: 6]), .reference(1),
      .text("$archiver"), .text("NSKeyedArchiver"),
    ]
    var table = [7, 8]
    for level in 0..<depth {
      let next = level + 1 < depth ? level + 3 : end
      nodes += [.reference(next), .array([nodes.count, nodes.count])]
      nodes.append(.dictionary([3: 9, 4: nodes.count - 1]))
      table.append(nodes.count - 1)
    }
    table.append(6)
    let first = nodes.count
    nodes += [.reference(2), .dictionary([2: first]), .array(table)]
    nodes.append(.dictionary([0: first + 2, 1: first + 1, 10: 11]))
    return list(nodes, root: nodes.count - 1)
  }

  @Test func `an archive that holds itself or too much is refused`() throws {
    let whole = try PlainArchive.value(nested(depth: 3, end: 5))
    #expect("\(whole)".components(separatedBy: "NSArray").count == 9)
    for end in [0, 1, 2, 99] {
      #expect(PlainArchive.isArchive(nested(depth: 3, end: end)))
      #expect(throws: (any Error).self) { try PlainArchive.value(nested(depth: 3, end: end)) }
    }
    // Two to the power of 60 values.
    #expect(throws: (any Error).self) { try PlainArchive.value(nested(depth: 60, end: 62)) }
  }

  /// Foundation's unarchiver, which ends the process at some of them, is not asked.
  @Test(arguments: ["NSDecimalNumber", "NSNumber", "NSFormatter", "Cover", ""])
  func `an archive of another class is refused`(_ className: String) throws {
    let archive = nested(depth: 1, end: 3, className: className)
    #expect(PlainArchive.isArchive(archive))
    #expect(throws: (any Error).self) { try PlainArchive.value(archive) }
  }

  @Test func `damaged archives are refused or read`() throws {
    let values: NSDictionary = [
      "a": [1, 2.5, "three"] as NSArray, "b": Date(timeIntervalSinceReferenceDate: 4) as NSDate,
      "c": Data([1, 2, 3]) as NSData, "d": UUID() as NSUUID,
    ]
    let whole = try NSKeyedArchiver.archivedData(
      withRootObject: values, requiringSecureCoding: true)
    let read = try #require(try PlainArchive.value(whole) as? [String: Any])
    #expect(Set(read.keys) == ["a", "b", "c", "d"])
    var random = SplitMix(seed: 7)
    var refused = 0
    for _ in 0..<5_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = .random(in: 0...255, using: &random)
      }
      if (try? PlainArchive.value(bytes)) == nil { refused += 1 }
    }
    #expect(refused > 1_000)
  }
}
