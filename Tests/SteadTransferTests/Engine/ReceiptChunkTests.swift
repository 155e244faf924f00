import Foundation
import Testing

@testable import SteadPreferences
@testable import SteadTransfer

/// Entries come back from a chunk as they went in, and take little room.
struct ReceiptChunkTests {
  private static let digest = ItemDigest.text(of: Data("x".utf8))

  @Test(arguments: [
    [], [""], ["", ""], ["a"], ["a", "a", "a"], ["Draft/1", "Draft/2", "Draft/3", "Draft/5"],
    ["Draft/9", "Draft/10", "Draft/11"], ["5", "4", "3", "1"], ["x1", "y2"], ["a1b", "a2b", "a3c"],
    ["0", "1", "2"], ["00", "01", "007"], ["Draft/1+Tag/3", "Draft/2+Tag/3"],
    ["999999999999999999", "1000000000000000000", "18446744073709551616"],
    ["e\u{301}", "\u{e9}", "\u{e9}"], ["1\u{301}", "2\u{301}"],
    [digest, digest, "Draft/1:" + digest, "Draft/2:" + digest, digest.uppercased()],
    ["12." + digest, "11." + digest, "10.", digest + "1"],
  ])
  func keepsTexts(_ texts: [String]) throws {
    let packed = PackedTexts(texts)
    #expect(packed.texts.map { Array($0.utf8) } == texts.map { Array($0.utf8) })
    #expect(packed.count == texts.count)
    let tree = try #require(try PropertyList.encoded(packed))
    let again = try PropertyList.parse(tree.data(format: .binary)).decoded(as: PackedTexts.self)
    #expect(again == packed)
    let json = try JSONEncoder().encode(packed)
    #expect(try JSONDecoder().decode(PackedTexts.self, from: json) == packed)
  }

  /// A receipt took 250 bytes for each item, more than many an item itself.
  @Test func takesAsMuchRoomAsItsDigests() throws {
    let entries = (0..<4096).map { number in
      TransferReceipt.Entry(
        identity: ItemDigest.text(of: Data("\(number)".utf8)),
        placement: .init(
          location: "Draft/\(number + 1)", digest: ItemDigest.text(of: Data("\(number) there".utf8))
        ))
    }
    let chunk = ReceiptChunk(entries)
    #expect(chunk.entries == entries)
    let data = try #require(try PropertyList.encoded(chunk)).data(format: .binary)
    #expect(data.count < 33 * entries.count)
  }

  @Test(arguments: [
    "{\"runs\":[[\"a\",\"\",\"\",0,2,true]],\"digests\":\"\"}",
    "{\"runs\":[[\"a\",\"x\",\"\",0,1,false]],\"digests\":\"\"}",
    "{\"runs\":[[\"a\",\"1\",\"\",7,1,false]],\"digests\":\"\"}",
    "{\"runs\":[[\"a\",\"9223372036854775807\",\"\",1,2,false]],\"digests\":\"\"}",
    "{\"runs\":[[\"a\",\"1\",\"\",-9223372036854775808,1,false]],\"digests\":\"\"}",
    "{\"runs\":[[\"a\",\"1\",\"\",1,-1,false]],\"digests\":\"\"}",
    "{\"runs\":[[\"a\",\"1\",\"\",1,9223372036854775807,true]],\"digests\":\"\"}",
  ])
  func refusesDamagedOnes(_ json: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(PackedTexts.self, from: Data(json.utf8))
    }
  }
}
