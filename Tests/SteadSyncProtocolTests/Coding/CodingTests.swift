import SteadTestSupport
import SyncSimulator
import Testing

@testable import SteadSyncProtocol

@Suite struct CodingTests {
  private let stamp = Stamp(milliseconds: 1_700_000_000_000, counter: 3, device: "d1")

  private func text(_ value: some SyncCodable) -> String {
    String(decoding: value.encoded(), as: UTF8.self)
  }

  private func read<Value: SyncCodable>(_ text: String) throws(SyncCodingError) -> Value {
    try Value(encoded: text.utf8)
  }

  /// The bytes of SyncProtocol.md.
  @Test func `A live record to the byte`() throws {
    let record = Record(
      id: "t1", type: "Task", seq: 17, at: stamp, live: ["c1-1-0"],
      fields: [
        "name": Field("Milk", stamp),
        "parent": Field(.null, Stamp(milliseconds: 1_700_000_000_500, device: "d2").bumped),
      ])
    let expected =
      #"{"at":[1700000000000,3,"d1"],"fields":{"name":["Milk"],"parent":[null,1700000000500,0,"d2",1]},"#
      + #""id":"t1","live":["c1-1-0"],"seq":17,"type":"Task"}"#
    #expect(text(record) == expected)
    #expect(try read(expected) == record)
  }

  @Test func `A tombstone and an alias to the byte`() throws {
    let alias = Record(id: "t2", type: "Task", seq: 18, at: stamp, dead: ["c2-1-0"], into: "t1")
    let expected =
      #"{"at":[1700000000000,3,"d1"],"dead":["c2-1-0"],"id":"t2","into":"t1","seq":18,"type":"Task"}"#
    #expect(text(alias) == expected)
    #expect(try read(expected) == alias)
  }

  @Test func `A push to the byte`() throws {
    let mutations: [Mutation] = [
      .insert(
        .init(id: "t1", type: "Task", incarnation: "c1-1-0", stamp: stamp, fields: ["name": "Milk"])
      ),
      .update(
        .init(id: "t1", type: "Task", incarnations: ["c1-1-0"], stamp: stamp, fields: ["name": 1])),
      .delete(.init(id: "t1", type: "Task", incarnations: ["c1-1-0"], stamp: stamp)),
      .restore(Record(id: "t3", type: "Task", at: stamp, dead: ["x"])),
    ]
    let push = Push(
      client: "c1", device: "d1", anchor: Mark(head: 17, token: 0xAB), schemaVersion: 1,
      schemaDigest: 0xAB, transactions: [Transaction(number: 1, basis: 0, mutations: mutations)],
      absentBlobs: ["b2", "b1"])
    let expected =
      #"{"absentBlobs":["b1","b2"],"anchor":"17.00000000000000ab","client":"c1","device":"d1","#
      + #""schemaDigest":"00000000000000ab","schemaVersion":1,"#
      + #""transactions":[{"basis":0,"mutations":["#
      + #"{"fields":{"name":"Milk"},"id":"t1","life":"c1-1-0","op":"insert","stamp":[1700000000000,3,"d1"],"type":"Task"},"#
      + #"{"fields":{"name":1},"id":"t1","lives":["c1-1-0"],"op":"update","stamp":[1700000000000,3,"d1"],"type":"Task"},"#
      + #"{"id":"t1","lives":["c1-1-0"],"op":"delete","stamp":[1700000000000,3,"d1"],"type":"Task"},"#
      + #"{"op":"restore","record":{"at":[1700000000000,3,"d1"],"dead":["x"],"id":"t3","seq":0,"type":"Task"}}"#
      + #"],"number":1}],"v":1}"#
    #expect(text(push) == expected)
    #expect(try read(expected) == push)
  }

  @Test func `A schema to the byte`() throws {
    let schema = Schema(
      version: 2,
      entities: [
        "Task": EntityRules(
          fields: [
            "parent": .reference(.nullify), "hits": FieldRule(merge: .counter), "file": .blob,
          ],
          unique: [
            UniqueRule("code", fields: ["code"]),
            UniqueRule("name", fields: ["list", "name"], policy: .keepBoth(suffix: " (%)")),
          ]), "Plain": EntityRules(),
      ])
    let expected =
      #"{"types":{"Plain":{},"Task":{"fields":{"file":{"blob":true},"hits":{"merge":"counter"},"#
      + #""parent":{"reference":"nullify"}},"unique":[{"fields":["code"],"name":"code"},"#
      + #"{"fields":["list","name"],"name":"name","suffix":" (%)"}]}},"version":2}"#
    #expect(text(schema) == expected)
    #expect(try read(expected) == schema)
  }

  @Test(
    arguments: [
      (
        .taken(
          PushReceipt(last: 3, head: 9, now: 5, refused: [Refusal(number: 2, reason: .device)])),
        200,
        #"{"answer":"taken","head":9,"last":3,"now":5,"refused":[{"number":2,"reason":{"name":"device"}}],"v":1}"#
      ),
      (.expired, 410, #"{"answer":"expired","v":1}"#),
      (.rollback, 410, #"{"answer":"rollback","v":1}"#),
      (.gap, 409, #"{"answer":"gap","v":1}"#),
      (.schemaWanted, 409, #"{"answer":"schemaWanted","v":1}"#),
      (.schemaTooOld(minimum: 4), 412, #"{"answer":"schemaTooOld","minimum":4,"v":1}"#),
      (.schemaConflict, 409, #"{"answer":"schemaConflict","v":1}"#),
      (.blobsMissing(["b"]), 409, #"{"answer":"blobsMissing","blobs":["b"],"v":1}"#),
      (.tooLarge, 413, #"{"answer":"tooLarge","v":1}"#),
    ] as [(PushAnswer, Int, String)])
  func `Answers to a push to the byte, with their status`(
    answer: PushAnswer, status: Int, expected: String
  ) throws {
    #expect(text(answer) == expected)
    #expect(try read(expected) == answer)
    #expect(answer.status == status)
  }

  @Test func `A page to the byte`() throws {
    let page = Page(
      client: "c1", after: Cursor(seq: 3, start: 0, anchor: .start),
      records: [Record(id: "t", type: "T", seq: 4, at: stamp, live: ["i"])],
      cursor: Cursor(seq: 4, start: 0, anchor: Mark(head: 9, token: .max)), more: true, last: 2,
      digest: TransactionDigest(bits: 0xAB),
      refused: [Refusal(number: 2, reason: .quota(limit: 5, needed: 6))], purged: 1, now: 7)
    let expected =
      #"{"after":"3.0.0.0000000000000000","answer":"page","client":"c1","cursor":"4.0.9.ffffffffffffffff","digest":"00000000000000ab","last":2,"#
      + #""more":true,"now":7,"purged":1,"records":[{"at":[1700000000000,3,"d1"],"id":"t","live":["i"],"seq":4,"#
      + #""type":"T"}],"refused":[{"number":2,"reason":{"limit":5,"name":"quota","needed":6}}],"v":1}"#
    #expect(text(ChangesAnswer.page(page)) == expected)
    #expect(try read(expected) == ChangesAnswer.page(page))
    #expect(
      text(ChangesAnswer.rollback(common: .start))
        == #"{"answer":"rollback","common":"0.0000000000000000","v":1}"#)
    #expect(ChangesAnswer.rollback(common: nil).status == 410)
    #expect(ChangesAnswer.page(page).status == 200)
  }

  @Test func `A page of encoded records has the bytes of its records`() throws {
    let live = Record(
      id: "t", type: "T", seq: 4, at: stamp, live: ["i"],
      fields: ["é": Field("\n\"", stamp), "n": Field(.double(1), stamp.bumped)])
    let records = [live, Record(id: "u", type: "T", seq: 5, at: stamp, dead: ["i"], into: "t")]
    let encoded = try records.map {
      try EncodedRecord($0.encoded(), seq: $0.seq, size: $0.size, isLive: $0.isLive)
    }
    for count in 0...2 {
      var page = Page(
        client: "c1", after: nil, records: [],
        cursor: Cursor(seq: 5, start: 0, anchor: Mark(head: 9, token: 1)), more: true, last: 2,
        digest: TransactionDigest(), refused: [Refusal(number: 2, reason: .device)], purged: 1,
        now: 7)
      let bytes = page.encoded(with: Array(encoded.prefix(count)))
      page.records = Array(records.prefix(count))
      #expect(bytes == ChangesAnswer.page(page).encoded())
    }
  }

  @Test(
    arguments: [
      "", "{", #"{"seq":4"#, #"{"seq":4}}"#, #"{"seq":4},"#, #"{"seq":4,}"#, "null", "[4]", "4",
      #"{"seq":"4"}"#, #"{"seq":4.0}"#, #"{"seq":null}"#, #"{"at":{"seq":4}}"#, #"{"seq":5}"#,
      #"{"seq":4,"seq":5}"#, #"{"seq":4,"type":"\x"}"#, #"{"seq":9223372036854775808}"#,
      #"{"seq":4,"type":"T}"#, #"{"at":[1 2],"seq":4}"#,
    ])
  func `What isn't an object with its row's number is no encoded record`(text: String) {
    #expect(throws: SyncCodingError.self) {
      try EncodedRecord(Array(text.utf8), seq: 4, size: 1, isLive: true)
    }
  }

  @Test func `A request is a query, too`() throws {
    let request = ChangesRequest(
      client: "c1", cursor: Cursor(seq: 3, start: 0, anchor: .start), limit: 50, acknowledged: 2,
      marks: [Mark(head: 5, token: 1), .start])
    let query = Dictionary(uniqueKeysWithValues: request.queryItems.map { ($0.name, $0.value) })
    #expect(query["cursor"] == "3.0.0.0000000000000000")
    #expect(query["marks"] == "5.0000000000000001,0.0000000000000000")
    #expect(try ChangesRequest(query: query) == request)
    #expect(try ChangesRequest(query: ["client": "c"]).limit == ChangesRequest.defaultLimit)
    #expect(throws: SyncCodingError.self) { try ChangesRequest(query: [:]) }
    for (name, value) in [
      ("cursor", "3"), ("limit", "-1"), ("limit", "+1"), ("marks", "5"), ("acknowledged", "x"),
    ] {
      #expect(throws: SyncCodingError.self) {
        try ChangesRequest(query: ["client": "c", name: value])
      }
    }
  }

  @Test(
    arguments: [
      .denied(deleted: "a", referrer: "b"), .follows(number: 4), .quota(limit: 1, needed: 2),
      .recordCount(limit: 1, needed: 2), .recordSize(id: "a", limit: 1, needed: 2),
      .blobSize(id: "a", limit: 1, needed: 2), .tooLarge, .type(id: "a"), .device,
      .invalid(id: "a"),
      .other(name: "later"),
    ] as [Refusal.Reason])
  func `Each reason survives, an unknown one by its name`(reason: Refusal.Reason) throws {
    #expect(try Refusal.Reason(encoded: reason.encoded()) == reason)
  }

  @Test func `Members that this version doesn't know survive in a record`() throws {
    let text = #"{"at":[1,0,"d"],"color":{"deep":[1]},"id":"t","live":["i"],"seq":1,"type":"T"}"#
    let record: Record = try read(text)
    #expect(record.extra == ["color": .object(["deep": [1]])])
    #expect(self.text(record) == text)
    // Not in a message, where they are passed over.
    #expect(try read(#"{"answer":"gap","more":[],"v":1}"#) == PushAnswer.gap)
  }

  @Test func `They are written between the members that it knows`() throws {
    let stamp = Stamp(milliseconds: 1, device: "d")
    let record = Record(
      id: "t", type: "T", seq: 1, at: stamp, live: ["i"], fields: ["f": Field(1, stamp)],
      extra: ["a": [[], ["x"]], "é": "last", "into_": .object([:]), "seq": 7, "zone": .null])
    let expected =
      #"{"a":[[],["x"]],"at":[1,0,"d"],"fields":{"f":[1]},"id":"t","into_":{},"live":["i"],"seq":1,"#
      + #""type":"T","zone":null,"é":"last"}"#
    #expect(text(record) == expected)
    #expect(record.syncValue.encoded() == record.encoded())
  }

  @Test func `They survive a device that doesn't know them and a restored server`() throws {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync(0)
    var record = try #require(bench.record("t"))
    record.extra = ["color": 1]
    bench.server.storage.put(record, index: Bench.schema.index(of: record))
    bench.sync()
    #expect(bench.devices[1].record("t")?.extra == ["color": 1])
    bench.server = Zone(MemoryZone())
    bench.sync()
    #expect(bench.record("t")?.extra == ["color": 1])
  }

  @Test func `A later version is refused by name`() {
    for message in [#"{"answer":"gap","v":2}"#, #"{"answer":"gap","v":0}"#] {
      #expect(throws: SyncCodingError.self) { try PushAnswer(encoded: message.utf8) }
      do throws(SyncCodingError) { _ = try PushAnswer(encoded: message.utf8) } catch {
        #expect(error.code == .unsupportedVersion)
      }
    }
  }

  @Test(
    arguments: [
      "", "{", "[1,]", #"{"a":1,"a":2}"#, "01", "1.", ".5", "+1", "1e999", "nul", #""\x""#,
      #""\ud800""#,
      "\"\u{1}\"", "9223372036854775808", "[] []", "NaN", #"{"a"}"#, "'a'", "[1 2]",
    ])
  func `What isn't JSON is refused`(text: String) {
    #expect(throws: SyncCodingError.self) { try SyncValue(encoded: text.utf8) }
  }

  @Test func `Bytes that aren't UTF-8 are refused, and depth has its limit`() throws {
    #expect(throws: SyncCodingError.self) { try SyncValue(encoded: [0x22, 0xFF, 0x22]) }
    let deepest = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
    #expect(try SyncValue(encoded: deepest.utf8).isValid())
    #expect(throws: SyncCodingError.self) { try SyncValue(encoded: "[\(deepest)]".utf8) }
    #expect(throws: SyncCodingError.self) {
      try SyncValue(encoded: Array(repeating: 0x5B, count: 1_000_000))
    }
  }

  @Test(
    arguments: [
      ("0", .int(0)), ("-0", .int(0)), ("-0.0", .double(0)), ("1.5", .double(1.5)),
      ("1e2", .double(100)),
      ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
      (#""\u00e9\ud83d\ude00\n""#, .string("é😀\n")), ("[ 1 , 2 ]", [1, 2]),
      (#"{ "b" : 1 , "a" : null }"#, .object(["a": .null, "b": 1])),
    ] as [(String, SyncValue)])
  func `Values are read as JSON has them, and written in one way`(text: String, value: SyncValue)
    throws
  {
    let read = try SyncValue(encoded: text.utf8)
    #expect(read == value)
    #expect(try SyncValue(encoded: read.encoded()) == value)
    #expect(read.encoded() == value.encoded())
  }

  @Test func `States of zones and clients survive a round trip`() throws {
    var bench = Bench()
    bench.commit(0, .task("t"), .insert(id: "g", type: "Guard", fields: ["target": "t"]))
    bench.sync()
    bench.server.limits.zoneBytes = 1
    bench.commit(0, .task("u"))
    bench.sync()
    bench.commit(0, .update(id: "t", fields: ["name": "pending"]))
    let state = bench.devices[0].state
    #expect(!state.quarantine.isEmpty && !state.outbox.isEmpty)
    #expect(try ClientState(encoded: state.encoded()) == state)
    let zone = bench.server.storage.state()
    #expect(try ZoneState(encoded: zone.encoded()) == zone)
    let client = bench.server.storage.client(state.client)
    #expect(!client.refusals.isEmpty)
    #expect(try ZoneClient(encoded: client.encoded()) == client)
  }

  @Test func `The digest of a transaction is what other languages make`() {
    var digest = TransactionDigest()
    #expect(digest.syncValue == "cbf29ce484222325")
    let insert = Mutation.Insert(
      id: "t1", type: "Task", incarnation: "i", stamp: stamp, fields: ["name": 1])
    digest.add(Transaction(number: 1, basis: 0, mutations: [.insert(insert)]))
    #expect(digest.syncValue == "c5101676f7f691ff")
  }

  @Test func `The digest of a schema is what other languages make`() {
    let rules = EntityRules(fields: ["parent": .reference(.nullify)])
    let schema = Schema(version: 1, entities: ["Task": rules])
    #expect(String(schema.digest, radix: 16) == "df4f560fecd2f12d")
    #expect(Schema(version: 2, entities: ["Task": rules]).digest == schema.digest)
    #expect(Schema.empty.digest != schema.digest)
  }
}

@Suite struct FuzzTests {
  /// 8,000 damaged messages; `SyncSimulatorRunner --fuzz 60` tries more.
  @Test(arguments: 1...10)
  func `No bytes stop a decoder or a server`(seed: UInt64) throws {
    var fuzz = DecoderFuzz(seed: seed)
    for _ in 0..<Effort.times(800) { try fuzz.run() }
    #expect(fuzz.accepted > 100)
    #expect(fuzz.applied > 0)
  }
}
