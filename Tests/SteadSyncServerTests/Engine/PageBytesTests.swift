#if Server
import Foundation
import SteadSQLite
import SteadSyncProtocol
import Testing
@testable import SteadSyncServer

/// Pages are spliced of the bodies in the table of records: their bytes, and what becomes of a damaged body.
@Suite struct PageBytesTests {
  private static let zone = String(repeating: "0a", count: 16)
  private static let mark = Mark(head: Int64(records.count), token: 7)

  /// Each kind of record and of value, with the numbers from 1.
  private static let records: [Record] = {
    let at = Stamp(milliseconds: 1_700_000_000_000, counter: 3, device: "d1")
    let later = Stamp(milliseconds: 1_700_000_000_500, device: "d2")
    let values: [String: SyncValue] = [
      "null": .null, "yes": .bool(true), "no": .bool(false), "int": .int(.min),
      "large": .int(.max), "double": .double(-1.5e-7), "whole": .double(3), "zero": .double(-0.0),
      "text": "Ä \"\\/\n\u{0}\u{1F}\u{7F}\u{2028} 😀", "empty": "", "array": [1, ["x"], []],
      "object": .object(["b": .null, "a": .object([:]), "é": 1]), "Ü \"\\": 1,
    ]
    var records = [
      Record(
        id: "fields", type: "Task", at: at, live: ["l1"],
        fields: values.mapValues { Field($0, at) }),
      Record(
        id: "stamps", type: "Täsk \"1\"", at: at, live: ["l1", "l2"], dead: ["l0", "a"],
        fields: [
          "same": Field("1", at), "later": Field("2", later), "bumped": Field(.null, at.bumped),
          "later and bumped": Field([], later.bumped.bumped),
        ]),
      Record(id: "no/fields%", type: "Task", at: later.bumped, live: ["l1"]),
      Record(id: "tombstone", type: "Task", at: at, dead: ["l2", "l1"]),
      Record(id: "alias", type: "Task", at: at, dead: ["l1"], into: "fields"),
      Record(
        id: "extra", type: "Task", at: at, live: ["l1"], fields: ["f": Field(1, later)],
        extra: ["a": [[], ["x"]], "into_": .object([:]), "zone": .null, "é": "last"]),
      Record(
        id: "large", type: "Task", at: at, live: ["l1"],
        fields: ["text": Field(.string(String(repeating: "x", count: 2_000)), at)]),
    ]
    for index in records.indices { records[index].seq = Int64(index + 1) }
    return records
  }()

  /// Runs a body with the records in a zone.
  private func withRecords(
    in engineCase: EngineCase, limits: SyncLimits = SyncLimits(),
    _ body: (TablesUnderTest) async throws -> Void
  ) async throws {
    try await engineCase.with { engine in
      let tables = TablesUnderTest(
        engine: engine, zone: Self.zone, limits: limits, schemas: SchemaCache())
      try await tables.make()
      try await tables.write { tables in
        for record in Self.records { try tables.put(record, index: RecordIndex()) }
        var state = tables.state()
        state.mark = Self.mark
        tables.setState(state)
        try tables.flush()
      }
      try await body(tables)
    }
  }

  private func request(after seq: Int64?, limit: Int = 100) -> ChangesRequest {
    ChangesRequest(
      client: "c", cursor: seq.map { Cursor(seq: $0, start: 0, anchor: Self.mark) }, limit: limit,
      acknowledged: 0)
  }

  /// The page with these records, as it is encoded from values.
  private func page(
    _ records: some Sequence<Record>, to request: ChangesRequest, until seq: Int64,
    start: Int64 = 0
  ) -> EncodedAnswer {
    let page = Page(
      client: "c", after: request.cursor, records: Array(records),
      cursor: Cursor(seq: seq, start: start, anchor: Self.mark), more: seq < Self.mark.head,
      last: 0, digest: TransactionDigest(), refused: [], purged: 0, now: 5)
    return .page(ChangesAnswer.page(page).encoded())
  }

  // MARK: - Bytes

  @Test(arguments: EngineCase.all)
  func `a page has the bytes of its records as values`(in engineCase: EngineCase) async throws {
    try await withRecords(in: engineCase) { tables in
      let head = Self.mark.head
      for seq in 0...head {
        let request = request(after: seq)
        let requestAnswer = try await tables.changes(request, now: 5)
        #expect(
          requestAnswer == page(Self.records.dropFirst(Int(seq)), to: request, until: head),
          "after \(seq)")
      }
      // From nothing: without the tombstones up to the head.
      let first = request(after: nil)
      let firstAnswer = try await tables.changes(first, now: 5)
      #expect(
        firstAnswer == page(Self.records.filter(\.isLive), to: first, until: head, start: head))
    }
  }

  @Test(arguments: EngineCase.all)
  func `a page has no more records and bytes than it may`(in engineCase: EngineCase) async throws {
    var limits = SyncLimits()
    limits.pageBytes = Self.records[0].size + Self.records[1].size + Self.records[2].size
    try await withRecords(in: engineCase, limits: limits) { tables in
      let two = request(after: 0, limit: 2)
      let twoAnswer = try await tables.changes(two, now: 5)
      #expect(twoAnswer == page(Self.records.prefix(2), to: two, until: 2))
      // The tombstones have no size, the record with members of a later version has one.
      let small = request(after: 0)
      let smallAnswer = try await tables.changes(small, now: 5)
      #expect(smallAnswer == page(Self.records.prefix(5), to: small, until: 5))
      // Larger than a page may be, and alone in it.
      let large = request(after: 6)
      let largeAnswer = try await tables.changes(large, now: 5)
      #expect(largeAnswer == page(Self.records.suffix(1), to: large, until: 7))
    }
  }

  // MARK: - Damage

  /// Bodies that the record with the number 2 can't have.
  private static let damaged: [[UInt8]] = {
    let body = records[1].encoded()
    var flipped = body
    // The quotation mark before the name of the first member.
    flipped[1] ^= 1
    let invalidUTF8: [UInt8] = Array(#"{"seq":2,"type":""#.utf8) + [0xFF, 0x22, 0x7D]
    let bodies: [[UInt8]] = [
      [], Array(body.dropLast()), Array(body.prefix(body.count / 2)), body + body, body + [0x2C],
      [UInt8](repeating: 0, count: body.count), flipped, invalidUTF8,
      // Another row's.
      records[2].encoded(),
    ]
    let others = ["null", "[]", "{}", #"{"seq":"2"}"#, #"{"seq":2,"type":"#]
    return bodies + others.map { Array($0.utf8) }
  }()

  @Test(arguments: EngineCase.all)
  func `a damaged body is an error and in no page`(in engineCase: EngineCase) async throws {
    try await withRecords(in: engineCase) { tables in
      for body in Self.damaged {
        try await tables.setBody(body, of: 2)
        for request in [request(after: nil), request(after: 0), request(after: 1, limit: 1)] {
          await #expect(throws: StoredForm.damaged, "\(String(decoding: body, as: UTF8.self))") {
            _ = try await tables.changes(request, now: 5)
          }
        }
        // Whoever has that record gets the others.
        let later = request(after: 2)
        let laterAnswer = try await tables.changes(later, now: 5)
        #expect(laterAnswer == page(Self.records.dropFirst(2), to: later, until: Self.mark.head))
      }
      try await tables.setBody(Self.records[1].encoded(), of: 2)
      let all = request(after: 0)
      let allAnswer = try await tables.changes(all, now: 5)
      #expect(allAnswer == page(Self.records, to: all, until: Self.mark.head))
    }
  }

  @Test func `a damaged body is answered with 500 and without a value`() async throws {
    try await TestServer.with { server in
      let client = TestClient(device: try await server.device(of: "anna"))
      try await client.makeZone()
      let fields: [String: SyncValue] = ["text": "s3cr3t"]
      #expect(try await client.push(1, client.insert("a", fields)).status == 200)
      let tables = TablesUnderTest(
        engine: server.server.engine, zone: client.zone, limits: SyncLimits(),
        schemas: SchemaCache())
      let body = try #require(try await tables.bodies().first)
      try await tables.setBody(body.dropLast(), of: 1)
      let answer = try await client.changes()
      #expect(answer.status == 500 && answer.error == "failed")
      #expect(!String(decoding: answer.body, as: UTF8.self).contains("s3cr3t"))
      try await tables.setBody(body[...], of: 1)
      #expect(try await client.changes().ids == ["a"])
    }
  }
}

extension TablesUnderTest {
  /// Replaces the body of the record with a number.
  fileprivate func setBody(_ body: some Collection<UInt8>, of seq: Int64) async throws {
    let body = SQLValue.bytes(Array(body))
    try await write { tables in
      let changed = try tables.session.change(
        "UPDATE records SET body = $1 WHERE zone = $2 AND seq = $3",
        [body, tables.zone, .integer(seq)])
      #expect(changed == 1)
    }
  }
}
#endif
