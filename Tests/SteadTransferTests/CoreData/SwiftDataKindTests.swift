import Foundation
import SwiftData
import Testing

@testable import SteadTransfer

/// Stores with each kind of attribute that SwiftData writes, in the descriptions that it gives them.
///
/// An enum with raw values is described as a struct with one field of the property's own name. Three stores of one app
/// could not be imported because of this.
@Suite struct SwiftDataKindTests {
  private typealias Property = ModelCache.Property

  private static let mass: Property = .composite(
    "weight",
    [
      .attribute("value", 500),
      .composite(
        "unit",
        [
          .composite("converter", [.attribute("coefficient", 500), .attribute("constant", 500)]),
          .attribute("symbol", 700),
        ]),
    ])

  private static let item: [Property] = [
    .attribute("number", 300),
    .composite("status", [.attribute("status", 700)]),
    .composite("level", [.attribute("level", 300)]),
    .composite("ratio", [.attribute("ratio", 500)]),
    .composite("formerly", [.attribute("formerly", 700)]),
    .composite("stage", [.attribute("planned", 700), .attribute("running", 700)]),
    .composite(
      "action",
      [
        .attribute("idle", 700), .composite("move", [.attribute("distance", 300)]),
        .composite("rename", [.attribute("first", 700), .attribute("last", 700)]),
      ]),
    .composite(
      "prep",
      [
        .composite("kind", [.attribute("kind", 700)]),
        .composite("grade", [.attribute("grade", 300)]),
        .composite("step", [.attribute("planned", 700), .attribute("running", 700)]),
        .composite(
          "place",
          [
            .attribute("city", 700), .composite("standing", [.attribute("standing", 700)]),
            .attribute("visited", 1800),
          ]),
      ]),
    .composite(
      "renamed", [.attribute("txt", 700), .composite("shr", [.attribute("shr", 500)])]),
    .attribute("statuses", 1800), .attribute("tags", 1800), .attribute("data", 1000),
    .attribute("link", 1200), .attribute("code", 1100), .attribute("price", 400), mass,
  ]

  /// The columns, of which two properties have `ZPLANNED` and `ZRUNNING`: prep's come first in the alphabet.
  private static let columns =
    "ZNUMBER INTEGER, ZSTATUS VARCHAR, ZLEVEL INTEGER, ZRATIO FLOAT, ZFORMERLY VARCHAR, "
    + "ZPLANNED VARCHAR, ZRUNNING VARCHAR, ZPLANNED1 VARCHAR, ZRUNNING1 VARCHAR, ZIDLE VARCHAR, "
    + "ZDISTANCE INTEGER, ZFIRST VARCHAR, ZLAST VARCHAR, ZKIND VARCHAR, ZGRADE INTEGER, ZCITY VARCHAR, "
    + "ZSTANDING VARCHAR, ZVISITED BLOB, ZTXT VARCHAR, ZSHR FLOAT, ZSTATUSES BLOB, ZTAGS BLOB, ZDATA BLOB, "
    + "ZLINK VARCHAR, ZCODE BLOB, ZPRICE DECIMAL, ZVALUE FLOAT, ZCOEFFICIENT FLOAT, ZCONSTANT FLOAT, "
    + "ZSYMBOL VARCHAR"

  private func store(_ rows: [[String: String]], model: [Property] = item) throws -> CoreDataFixture
  {
    let inserts = rows.enumerated().map { index, row in
      let fields = row.sorted { $0.key < $1.key }
      return "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(fields.map(\.key).joined(separator: ", "))) "
        + "VALUES (\(index + 1), 1, 1, \(fields.map(\.value).joined(separator: ", ")));"
    }
    return try CoreDataFixture(
      entities: [.init(1, "Item")],
      """
      CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(Self.columns));
      \(inserts.joined(separator: "\n"))
      INSERT INTO Z_MODELCACHE VALUES (\(try ModelCache.literal(["Item": model])));
      """)
  }

  private func items(_ fixture: CoreDataFixture) throws -> [Kinds.Item] {
    let container = try memoryContainer(Kinds.Item.self)
    let report = try fixture.importing(to: container).run()
    #expect(report.leftOutValues.isEmpty && report.missingProperties.isEmpty)
    let items = try ModelContext(container).fetch(FetchDescriptor<Kinds.Item>())
    return items.sorted { $0.number < $1.number }
  }

  @Test func `an enum with raw values is imported`() throws {
    let none = "CAST('[]' AS BLOB)"
    let fixture = try store([
      [
        "ZNUMBER": "1", "ZSTATUS": "'done'", "ZLEVEL": "5", "ZRATIO": "0.5",
        "ZFORMERLY": "'active'",
        "ZSTATUSES": none,
      ],
      ["ZNUMBER": "2", "ZSTATUS": "'active'", "ZLEVEL": "1", "ZSTATUSES": none],
    ])
    let items = try items(fixture)
    #expect(items.map(\.status) == [.done, .active] && items.map(\.level) == [.high, .low])
    #expect(items.map(\.ratio) == [.half, nil] && items.map(\.formerly) == [.active, nil])
  }

  /// The raw value's type is another one, or no case has it.
  @Test(arguments: [
    ["ZSTATUS": "'paused'"], ["ZSTATUS": "5"], ["ZLEVEL": "'high'"], ["ZLEVEL": "2"],
    ["ZKIND": "'paused'"], ["ZKIND": "'done'", "ZGRADE": "7"], ["ZIDLE": "'move'"],
    ["ZIDLE": "'idle'", "ZDISTANCE": "5"], ["ZDISTANCE": "5", "ZFIRST": "'a'"], ["ZLAST": "'a'"],
    ["ZRUNNING1": "'planned'"], ["ZPLANNED1": "'planned'", "ZRUNNING1": "'running'"],
    ["ZSHR": "0.5"], ["ZVALUE": "1.5"],
  ])
  func `a value that no case has is a failure`(row: [String: String]) throws {
    let plain = [
      "ZNUMBER": "1", "ZSTATUS": "'done'", "ZLEVEL": "5", "ZSTATUSES": "CAST('[]' AS BLOB)",
    ]
    let container = try memoryContainer(Kinds.Item.self)
    let fixture = try store([plain.merging(row) { $1 }])
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.code == .notConverted && error.failures.map(\.item) == ["Item 1"], "\(error)")
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Kinds.Item>()) == 0)
  }

  /// Two payloads of one enum whose fields have one name have columns that cannot be told apart.
  @Test func `payloads whose columns are not certain are refused`() throws {
    let action: Property = .composite(
      "action",
      [.composite("move", [.attribute("_0", 300)]), .composite("rename", [.attribute("_0", 300)])])
    let model = Self.item.map { property in
      if case .composite("action", _) = property { action } else { property }
    }
    let fixture = try store([["ZNUMBER": "1", "ZSTATUS": "'done'", "ZLEVEL": "5"]], model: model)
    try fixture.run("ALTER TABLE ZITEM ADD Z_0 INTEGER; ALTER TABLE ZITEM ADD Z_01 INTEGER;")
    let container = try memoryContainer(Kinds.Item.self)
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.code == .unsupported && error.message.contains("not certain"), "\(error)")
  }

  @Test func `a struct in the store is no raw value`() throws {
    let model = Self.item.map { property in
      if case .composite("status", _) = property {
        return Property.composite("status", [.attribute("status", 700), .attribute("since", 900)])
      }
      return property
    }
    let fixture = try store([["ZNUMBER": "1", "ZSTATUS": "'done'", "ZLEVEL": "5"]], model: model)
    try fixture.run("ALTER TABLE ZITEM ADD ZSINCE TIMESTAMP;")
    let container = try memoryContainer(Kinds.Item.self)
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.code == .unsupported && error.message.contains("Item.status"), "\(error)")
  }

  // MARK: All kinds, at random

  @Test(arguments: 0..<6) func `random values of all kinds come over`(seed: Int) async throws {
    var random = SplitMix(seed: UInt64(seed))
    for _ in 0..<Effort.times(2) {
      let values = (0..<8).map { RandomItem(number: $0, &random) }
      let found = try items(store(values.map(\.columns)))
      #expect(found.count == values.count)
      for (item, value) in zip(found, values) { value.expect(item) }
      await Task.yield()
    }
  }

  /// The values of an item, and its columns as SwiftData writes them.
  private struct RandomItem {
    var columns: [String: String] = [:]
    let number: Int
    let status: Kinds.Status
    let level: Kinds.Level
    let ratio: Kinds.Ratio?
    let formerly: Kinds.Status?
    let stage: Kinds.Stage?
    let action: Kinds.Action?
    let prep: Kinds.Prep?
    let renamed: Kinds.Renamed?
    let statuses: [Kinds.Status]
    let tags: [String]?
    let data: Data?
    let link: URL?
    let code: UUID?
    let price: Decimal?
    let weight: Measurement<UnitMass>?

    init(number: Int, _ random: inout SplitMix) {
      func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
      func any<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
      }
      let texts = ["", "a", "status", "done", "running", "'quoted'", "ü\u{301}"]
      self.number = number
      status = any(Kinds.Status.allCases)
      level = any(Kinds.Level.allCases)
      ratio = maybe(any(Kinds.Ratio.allCases))
      formerly = maybe(any(Kinds.Status.allCases))
      stage = maybe(any(Kinds.Stage.allCases))
      action = maybe(
        any([
          .idle, .move(distance: Int.random(in: -9...9, using: &random)),
          .rename(first: any(texts), last: maybe(any(texts))),
        ]))
      let place = Kinds.Place(
        city: any(texts), standing: maybe(any(Kinds.Status.allCases)),
        visited: maybe([any(texts), any(texts)]))
      prep = maybe(
        Kinds.Prep(
          kind: any(Kinds.Status.allCases), grade: maybe(any(Kinds.Level.allCases)),
          step: maybe(any(Kinds.Stage.allCases)), place: maybe(place)))
      renamed = maybe(Kinds.Renamed(text: any(texts), share: maybe(any(Kinds.Ratio.allCases))))
      statuses = (0..<Int.random(in: 0...3, using: &random)).map { _ in any(Kinds.Status.allCases) }
      tags = maybe([any(texts)])
      data = maybe(Data([UInt8.random(in: 3...255, using: &random), 1]))
      link = maybe(URL(string: "https://example.org/\(number)?a=b")).flatMap(\.self)
      code = maybe(UUID())
      price = maybe(Decimal(Int.random(in: -999...999, using: &random)) / 8)
      weight = maybe(
        Measurement(
          value: Double(Int.random(in: 0...99, using: &random)) / 4,
          unit: any([UnitMass.grams, .pounds])))
      write()
    }

    private mutating func write() {
      func put(_ column: String, _ text: String?) {
        columns[column] = text.map { "'\($0.replacing("'", with: "''"))'" }
      }
      func put(_ column: String, _ number: (some Numeric)?) {
        columns[column] = number.map { "\($0)" }
      }
      func put(_ column: String, _ list: [String]?) throws {
        columns[column] = try list.map { list in
          let json = try JSONSerialization.data(withJSONObject: list)
          return "x'" + json.map { String(format: "%02x", $0) }.joined() + "'"
        }
      }
      put("ZNUMBER", number)
      put("ZSTATUS", status.rawValue)
      put("ZLEVEL", level.rawValue)
      put("ZRATIO", ratio?.rawValue)
      put("ZFORMERLY", formerly?.rawValue)
      if let stage { put("Z\(stage)1".uppercased(), "\(stage)") }
      switch action {
      case .idle: put("ZIDLE", "idle")
      case .move(let distance): put("ZDISTANCE", distance)
      case .rename(let first, let last):
        put("ZFIRST", first)
        put("ZLAST", last)
      case nil: break
      }
      put("ZKIND", prep?.kind.rawValue)
      put("ZGRADE", prep?.grade?.rawValue)
      if let step = prep?.step { put("Z\(step)".uppercased(), "\(step)") }
      put("ZCITY", prep?.place?.city)
      put("ZSTANDING", prep?.place?.standing?.rawValue)
      try? put("ZVISITED", prep?.place?.visited)
      put("ZTXT", renamed?.text)
      put("ZSHR", renamed?.share?.rawValue)
      try? put("ZSTATUSES", statuses.map(\.rawValue))
      try? put("ZTAGS", tags)
      columns["ZDATA"] = data.map { "x'" + $0.map { String(format: "%02x", $0) }.joined() + "'" }
      put("ZLINK", link?.absoluteString)
      columns["ZCODE"] = code.map { "x'" + $0.uuidString.replacing("-", with: "") + "'" }
      columns["ZPRICE"] = price.map { "\($0)" }
      put("ZVALUE", weight?.value)
      put("ZSYMBOL", weight?.unit.symbol)
      let converter = weight?.unit.converter as? UnitConverterLinear
      put("ZCOEFFICIENT", converter?.coefficient)
      put("ZCONSTANT", converter?.constant)
    }

    func expect(_ item: Kinds.Item) {
      #expect(item.number == number && item.status == status && item.level == level)
      #expect(item.ratio == ratio && item.formerly == formerly)
      #expect(item.stage == stage)
      #expect(item.action == action)
      #expect(item.prep == prep)
      #expect(item.renamed == renamed)
      #expect(item.statuses == statuses && item.tags == tags && item.data == data)
      #expect(item.link == link && item.code == code && item.price == price)
      #expect(item.weight?.value == weight?.value)
      #expect(item.weight?.unit.symbol == weight?.unit.symbol)
    }
  }
}
