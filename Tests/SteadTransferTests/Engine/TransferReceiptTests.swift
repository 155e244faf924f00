import Foundation
import Testing

@testable import SteadPreferences
@testable import SteadTransfer

/// Which receipt may replace which, and the form in which one is kept.
struct TransferReceiptTests {
  /// A receipt follows the one that it was made of, and no other.
  @Test func `follows the one that is there`() throws {
    let none = TransferReceipt.none("t")
    let first = none.adding(2, at: Self.date)
    let second = first.adding(1, at: Self.date)
    let finished = second.finished(
      sourceVersion: TransferReceipt.SourceVersion(tag: "as it was", count: 3))
    try first.checkFollows(nil)
    try second.checkFollows(first)
    try finished.checkFollows(second)
    try finished.recording(TransferReceipt.SourceVersion(tag: "later", count: 3)).checkFollows(
      finished)
    try finished.emptied().checkFollows(finished)
    for (next, current) in [
      (first, first), (second, nil), (second, second), (finished, first),
      (finished.emptied(), second),
    ] as [(TransferReceipt, TransferReceipt?)] {
      let error = #expect(throws: TransferError.self) { try next.checkFollows(current) }
      #expect(error?.code == .changed)
    }
  }

  @Test func `counts what is moved and what is pending`() {
    let written = TransferReceipt.none("t").adding(2, at: Self.date).adding(1, at: Self.date)
    #expect((written.state, written.movedCount, written.pending) == (.written, 0, 0..<3))
    let finished = written.finished(
      sourceVersion: TransferReceipt.SourceVersion(tag: "as it was", count: 3))
    #expect((finished.state, finished.movedCount, finished.pending) == (.finished, 3, 3..<3))
    #expect(finished.sourceVersion?.count == 3)
    let next = finished.adding(1, at: Self.date)
    #expect((next.state, next.movedCount, next.pending) == (.written, 3, 3..<4))
    // The source is not known any more to hold nothing else.
    #expect(next.sourceVersion == nil)
    #expect((finished.emptied().count, finished.emptied().sourceVersion) == (0, nil))
  }

  @Test func `is kept as JSON with its version`() throws {
    let receipt = TransferReceipt.none("t").adding(2, at: Self.date)
    let chunk = ReceiptChunk(Self.entries(["Draft/1", "Draft/2"]))
    let whole = try WholeReceipt.succeeding(nil, receipt, adding: chunk)
    let json = try JSONEncoder().encode(whole)
    #expect(try JSONDecoder().decode(WholeReceipt.self, from: json) == whole)
    #expect(try JSONDecoder().decode(TransferReceipt.self, from: json) == receipt)
    let fields = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    #expect(
      Set(fields.keys) == [
        "version", "id", "state", "date", "revision", "moved", "pending", "chunks",
      ])
    #expect(fields["version"] as? Int == 2)
    #expect(fields["date"] as? Double == 5)
    let places = (fields["chunks"] as? [[String: Any]])?.first?["places"] as? [String: Any]
    let run = (places?["runs"] as? [[Any]])?.first
    #expect(run?.prefix(3).map { $0 as? String } == ["Draft/", "1", ""])
  }

  @Test func `a receipt whose entries are missing is refused`() throws {
    let receipt = TransferReceipt.none("t").adding(3, at: Self.date)
    let chunk = ReceiptChunk(Self.entries(["Draft/1", "Draft/2"]))
    let json = try JSONEncoder().encode(
      WholeReceipt.succeeding(nil, receipt, adding: chunk))
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(WholeReceipt.self, from: json)
    }
  }

  @Test func `a whole receipt folds its chunks`() throws {
    var whole: WholeReceipt?
    for number in 1...3 {
      let receipt = whole?.receipt ?? .none("t")
      whole = try .succeeding(
        whole, receipt.adding(1, at: Self.date),
        adding: ReceiptChunk(Self.entries(["Draft/\(number)"])))
      let written = try #require(whole)
      #expect(try written.chunk(at: number - 1).count == 1)
      whole = try .succeeding(written, written.receipt.finished(sourceVersion: nil))
    }
    let places = try whole?.chunk(at: 0).placements.map(\.location)
    #expect(places == ["Draft/1", "Draft/2", "Draft/3"])
    let emptied = try #require(whole?.receipt).emptied()
    #expect(throws: TransferError.self) {
      try WholeReceipt.succeeding(whole, emptied).chunk(at: 0)
    }
  }

  private static let date = Date(timeIntervalSinceReferenceDate: 5)

  private static func entries(_ places: [String]) -> [TransferReceipt.Entry] {
    places.map { .init(identity: "of \($0)", placement: .init(location: $0, digest: "")) }
  }
}

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
  func `keeps texts`(_ texts: [String]) throws {
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
  @Test func `takes as much room as its digests`() throws {
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
  func `refuses damaged ones`(_ json: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(PackedTexts.self, from: Data(json.utf8))
    }
  }
}
