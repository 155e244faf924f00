import CSteadFiles
import Foundation
import Testing

@testable import SteadFiles

/// The file is the one that Documentation/JournalFile.md draws; the numbers here are the document's.
@Suite struct JournalFileTests {
  private func number(_ bytes: Data, _ offset: Int, _ count: Int) -> UInt64 {
    bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func checksum(_ bytes: Data) -> UInt64 {
    bytes.withUnsafeBytes { UInt64(stead_crc32c_by_table(0, $0.baseAddress!, $0.count)) }
  }

  @Test func `is drawn to the byte`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("a.journal")
    let log = try LineLog(url, initial: ["hello", "world"])
    try log.compact(metadata: Data("meta".utf8))
    try log.append("first")
    try log.append("a second record")
    let file = try Data(contentsOf: url)

    #expect(file.count == 16_384)
    for copy in [0, 512] {
      #expect(file[copy..<(copy + 8)] == Data("SteadJnl".utf8))
      #expect(number(file, copy + 8, 4) == 1)
      #expect(number(file, copy + 12, 4) == 4)
      #expect(number(file, copy + 16, 8) != 0)
      #expect(number(file, copy + 24, 8) == 11)
      #expect(number(file, copy + 32, 4) == checksum(Data("hello\nworld".utf8)))
      #expect(file[(copy + 36)..<(copy + 292)] == Data("meta".utf8) + Data(count: 252))
      #expect(number(file, copy + 292, 4) == checksum(file[copy..<(copy + 292)]))
    }
    let salt = file[16..<24]
    let log1 = Data([5, 0, 0, 0]) + Data("first".utf8)
    let log2 = Data([15, 0, 0, 0]) + Data("a second record".utf8)
    #expect(file[4096..<4112] == Data("hello\nworld".utf8) + Data(count: 5))
    #expect(file[4112..<4116] == log1[..<4] && file[4120..<4128] == log1[4...] + Data(count: 3))
    #expect(number(file, 4116, 4) == checksum(salt + log1))
    #expect(file[4128..<4132] == log2[..<4] && file[4136..<4152] == log2[4...] + Data(count: 1))
    #expect(number(file, 4132, 4) == checksum(salt + log2))
    #expect(number(file, 4152, 8) == 0)
    #expect([1024, 1152, 1280, 1408, 1416].map { number(file, $0, 8) } == [4152, 0, 0, 0, 0])

    try log.journal.flush()
    let flushed = try Data(contentsOf: url)
    let identity = try POSIXDisk().withDescriptor(url.checkedPath, O_RDONLY) { descriptor in
      try POSIXDisk().status(descriptor, path: "").identity
    }
    let birth = identity.birth &* 0xD6E8_FEB8_6659_FD93
    let name = (identity.file &* 0x9E37_79B9_7F4A_7C15 ^ identity.device ^ birth) | 1
    #expect([1024, 1408, 1416].map { number(flushed, $0, 8) } == [4152, name, 4152])
  }
}
