import CSteadFiles
import Foundation
import SteadTestSupport
import Testing

@testable import SteadFiles

@Suite struct CRC32CTests {
  typealias Function = @Sendable (UInt32, UnsafeRawPointer, Int) -> UInt32

  private static let byTable: Function = { stead_crc32c_by_table($0, $1, $2) }
  private static let byInstruction: Function = { stead_crc32c_by_instruction($0, $1, $2) }
  private static var functions: [Function] {
    stead_crc32c_has_instruction() != 0 ? [byTable, byInstruction] : [byTable]
  }

  private func checksum(_ function: Function, _ bytes: [UInt8], from start: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { $0.isEmpty ? start : function(start, $0.baseAddress!, $0.count) }
  }

  // RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
  private static let vectors: [([UInt8], UInt32)] = [
    (Array(repeating: 0, count: 32), 0x8A91_36AA),
    (Array(repeating: 0xFF, count: 32), 0x62A8_AB43),
    (Array(0..<32), 0x46DD_794E),
    (Array((0..<32).reversed()), 0x113F_DB5C),
    (Array("123456789".utf8), 0xE306_9283),
  ]

  @Test(arguments: vectors)
  func `known vectors`(bytes: [UInt8], expected: UInt32) {
    for function in Self.functions { #expect(checksum(function, bytes) == expected) }
  }

  @Test(
    .needs(
      Requirement(
        stead_crc32c_has_instruction() != 0,
        orElse: "the processor has no instruction for CRC-32C: use one that has")))
  func `both ways agree at all lengths and alignments`() {
    var generator = SplitMix(seed: Effort.seed)
    let bytes = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let lengths = Array(0...300) + [3071, 3072, 3073, 6143, 6144, 6151, 9_999, 19_990]
    for length in lengths {
      for start in 0..<9 {
        let part = Array(bytes[start..<(start + length)])
        #expect(checksum(Self.byTable, part) == checksum(Self.byInstruction, part))
      }
    }
  }

  @Test func `goes on from where an earlier part ended`() {
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for function in Self.functions {
      let whole = checksum(function, bytes)
      for cut in [0, 1, 7, 8, 4_000, 9_999] {
        let first = checksum(function, Array(bytes[..<cut]))
        #expect(checksum(function, Array(bytes[cut...]), from: first) == whole)
      }
    }
  }

  @Test func `a record's checksum is of its length and its payload`() {
    let payload = Array("some payload".utf8)
    let length: [UInt8] = [UInt8(payload.count), 0, 0, 0]
    let expected = checksum(Self.byTable, length + payload, from: 77)
    #expect(stead_crc32c_record(77, payload, UInt32(payload.count)) == expected)
  }
}
