import Foundation
import SwiftData
import Testing

@testable import SteadTransfer

/// What a column holds, as SQL.
private func literal(_ value: Any?) throws -> String? {
  switch value {
  case nil: nil
  case let text as String: "'\(text.replacing("'", with: "''"))'"
  case let url as URL: "'\(url.absoluteString)'"
  case let flag as Bool: flag ? "1" : "0"
  case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
  case let share as Float: "\(Double(share))"
  case let data as Data: "x'" + data.map { String(format: "%02x", $0) }.joined() + "'"
  case let code as UUID: "x'" + code.uuidString.replacing("-", with: "") + "'"
  case let numbers as [Int]: try literal(JSONEncoder().encode(numbers))
  case let notes as [Fields.Note]: try literal(JSONEncoder().encode(notes))
  case let value?: "\(value)"
  }
}

private func insert(_ table: String, _ entity: Int, _ row: Int, _ columns: [String: Any?]) throws
  -> String
{
  let fields = try columns.compactMap { name, value in try literal(value).map { (name, $0) } }
    .sorted { $0.0 < $1.0 }
  return "INSERT INTO \(table) (Z_PK, Z_ENT, Z_OPT, \(fields.map(\.0).joined(separator: ", "))) "
    + "VALUES (\(row), \(entity), 1, \(fields.map(\.1).joined(separator: ", ")));\n"
}

/// Fields of structs in columns of their own: of all types, in hierarchies, and all of them nil.
@Suite struct SwiftDataFieldTests {
  private static let system = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"

  // MARK: All types

  private static let base: [ModelCache.Property] = [
    .attribute("number", 300),
    .composite(
      "full",
      [
        .attribute("flag", 800), .attribute("code", 1100), .attribute("link", 1200),
        .attribute("price", 400), .attribute("data", 1000), .attribute("share", 600),
        .attribute("count", 300), .attribute("small", 100), .attribute("since", 900),
        .attribute("numbers", 1800), .attribute("notes", 1800),
        .composite("stage", [.attribute("planned", 700), .attribute("running", 700)]),
        .composite(
          "action", [.attribute("idle", 700), .composite("move", [.attribute("distance", 300)])]),
      ]),
  ]

  private static let sub =
    base + [
      .composite("mood", [.attribute("calm", 700), .attribute("bright", 700)]),
      .composite(
        "spare",
        [
          .attribute("open", 800), .attribute("key", 1100), .attribute("page", 1200),
          .attribute("cost", 400), .attribute("bytes", 1000), .attribute("part", 600),
          .attribute("total", 300), .attribute("until", 900), .attribute("marks", 1800),
          .attribute("parts", 1800),
        ]),
    ]

  private static let table =
    "CREATE TABLE ZBASE (\(system), ZNUMBER INTEGER, ZFLAG INTEGER, ZCODE BLOB, ZLINK VARCHAR, "
    + "ZPRICE DECIMAL, ZDATA BLOB, ZSHARE FLOAT, ZCOUNT INTEGER, ZSMALL INTEGER, ZSINCE TIMESTAMP, "
    + "ZNUMBERS BLOB, ZNOTES BLOB, ZPLANNED VARCHAR, ZRUNNING VARCHAR, ZIDLE VARCHAR, ZDISTANCE INTEGER, "
    + "ZCALM VARCHAR, ZBRIGHT VARCHAR, ZOPEN INTEGER, ZKEY BLOB, ZPAGE VARCHAR, ZCOST DECIMAL, ZBYTES BLOB, "
    + "ZPART FLOAT, ZTOTAL INTEGER, ZUNTIL TIMESTAMP, ZMARKS BLOB, ZPARTS BLOB);\n"

  /// Random values of fields.
  private struct Draw {
    var random: SplitMix

    mutating func any<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: 0..<values.count, using: &random)]
    }

    mutating func maybe<Value>(_ value: Value) -> Value? {
      Bool.random(using: &random) ? value : nil
    }

    mutating func code() -> UUID {
      let (one, two) = (random.next(), random.next())
      return withUnsafeBytes(of: (one, two)) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }

    mutating func link() -> URL { URL(filePath: "/\(random.next())/a b?") }
    mutating func price() -> Decimal { Decimal(Int.random(in: -9_999...9_999, using: &random)) / 8 }
    mutating func data() -> Data { Data((0..<any([0, 1, 7])).map { _ in any([0, 1, 2, 255]) }) }
    mutating func share() -> Float { any([0.1, -2.5, 1e-30, 3e38, 16_777_216]) }
    mutating func count() -> UInt64 { any([0, 1, UInt64(Int64.max)]) }
    mutating func date() -> Date {
      Date(timeIntervalSinceReferenceDate: any([0, 0.1, -7e8, 700_000_000.123456]))
    }
    mutating func numbers() -> [Int] { any([[], [0], [.max, .min, -1]]) }
    mutating func notes() -> [Fields.Note] {
      (0..<any([0, 1, 2])).map { _ in
        Fields.Note(text: any(["", "ü'\"", "a"]), weight: maybe(any([0.1, 2])))
      }
    }

    mutating func full() -> Fields.Full {
      Fields.Full(
        flag: any([true, false]), code: code(), link: link(), price: price(), data: data(),
        share: share(), count: count(), small: any([.min, 0, .max]), since: date(),
        numbers: numbers(), notes: notes(), stage: any(Fields.Stage.allCases),
        action: any([.idle, .move(distance: any([-7, 0, 9]))]))
    }

    mutating func spare() -> Fields.Spare {
      Fields.Spare(
        open: maybe(any([true, false])), key: maybe(code()), page: maybe(link()),
        cost: maybe(price()), bytes: maybe(data()), part: maybe(share()), total: maybe(count()),
        until: maybe(date()), marks: maybe(numbers()), parts: maybe(notes()))
    }
  }

  private static func columns(of full: Fields.Full) -> [String: Any?] {
    var columns: [String: Any?] = [
      "ZFLAG": full.flag, "ZCODE": full.code, "ZLINK": full.link, "ZPRICE": full.price,
      "ZDATA": full.data, "ZSHARE": full.share, "ZCOUNT": full.count, "ZSMALL": full.small,
      "ZSINCE": full.since, "ZNUMBERS": full.numbers, "ZNOTES": full.notes,
      "Z\(full.stage)".uppercased(): "\(full.stage)",
    ]
    switch full.action {
    case .idle: columns["ZIDLE"] = "idle"
    case .move(let distance): columns["ZDISTANCE"] = distance
    }
    return columns
  }

  private static func columns(of spare: Fields.Spare) -> [String: Any?] {
    [
      "ZOPEN": spare.open, "ZKEY": spare.key, "ZPAGE": spare.page, "ZCOST": spare.cost,
      "ZBYTES": spare.bytes, "ZPART": spare.part, "ZTOTAL": spare.total, "ZUNTIL": spare.until,
      "ZMARKS": spare.marks, "ZPARTS": spare.parts,
    ]
  }

  @Test(arguments: 0..<4)
  func `fields of all types come over, in each class of a hierarchy`(seed: Int) async throws {
    var draw = Draw(random: SplitMix(seed: Effort.seed &+ UInt64(seed)))
    for _ in 0..<Effort.times(2) {
      var sql = Self.table
      var wanted: [(full: Fields.Full, mood: Fields.Mood?, spare: Fields.Spare?)] = []
      for row in 1...10 {
        let full = draw.full()
        var columns = Self.columns(of: full)
        columns["ZNUMBER"] = row
        let mood = row % 3 == 0 ? nil : draw.any(Fields.Mood.allCases)
        let spare = mood.flatMap { _ in draw.maybe(draw.spare()) }
        if let mood { columns["Z\(mood)".uppercased()] = "\(mood)" }
        if let spare { columns.merge(Self.columns(of: spare)) { one, _ in one } }
        sql += try insert("ZBASE", mood == nil ? 1 : 2, row, columns)
        // A struct without a value in any column is nil.
        wanted.append((full, mood, spare == Fields.Spare() ? nil : spare))
      }
      let cache = try ModelCache.literal(["Base": Self.base, "Sub": Self.sub])
      let fixture = try CoreDataFixture(
        entities: [.init(1, "Base"), .init(2, "Sub", under: 1)],
        sql + "INSERT INTO Z_MODELCACHE VALUES (\(cache));")
      let container = try memoryContainer(Fields.Base.self, Fields.Sub.self)
      let report = try fixture.importing(to: container).run()
      #expect(report.leftOutValues.isEmpty && report.missingProperties.isEmpty)
      let found = try ModelContext(container).fetch(FetchDescriptor<Fields.Base>())
        .sorted { $0.number < $1.number }
      #expect(found.count == wanted.count)
      for (object, value) in zip(found, wanted) {
        #expect(object.full == value.full)
        #expect((object as? Fields.Sub)?.mood == value.mood)
        #expect((object as? Fields.Sub)?.spare == value.spare)
      }
      await Task.yield()
    }
  }

  // MARK: Fields that are all nil

  private static let stop: [ModelCache.Property] = [
    .attribute("number", 300),
    .composite("home", [.attribute("city", 700), .attribute("floor", 300)]),
    .composite(
      "prep",
      [
        .composite("place", [.attribute("street", 700), .attribute("height", 500)]),
        .attribute("note", 700),
      ]),
    .composite(
      "extra",
      [
        .composite("inner", [.attribute("depth", 300)]), .attribute("label", 700),
        .composite("other", [.attribute("width", 300)]),
      ]),
    .composite("coded", [.attribute("txt", 700), .composite("spt", [.attribute("row", 300)])]),
    .composite("strict", [.attribute("code", 700), .attribute("rest", 700)]),
  ]

  private func stops(_ rows: [[String: Any?]]) throws -> CoreDataFixture {
    let inserts = try rows.enumerated().map { try insert("ZSTOP", 1, $0 + 1, $1) }
    return try CoreDataFixture(
      entities: [.init(1, "Stop")],
      """
      CREATE TABLE ZSTOP (\(Self.system), ZNUMBER INTEGER, ZCITY VARCHAR, ZFLOOR INTEGER, ZSTREET VARCHAR,
        ZHEIGHT FLOAT, ZNOTE VARCHAR, ZDEPTH INTEGER, ZLABEL VARCHAR, ZWIDTH INTEGER, ZTXT VARCHAR,
        ZROW INTEGER, ZCODE VARCHAR, ZREST VARCHAR);
      \(inserts.joined())
      INSERT INTO Z_MODELCACHE VALUES (\(try ModelCache.literal(["Stop": Self.stop])));
      """)
  }

  /// `Address(city: nil)` of a property with the default `Address(city: "Rome")` was refused, or became Rome.
  @Test(arguments: 0..<4)
  func `a struct that is not optional is itself, also if all its fields are nil`(seed: Int) throws {
    var draw = Draw(random: SplitMix(seed: Effort.seed &+ UInt64(seed)))
    var rows: [[String: Any?]] = []
    var wanted: [Hollow.Stop] = []
    for number in 1...24 {
      let place = Hollow.Place(street: draw.maybe("s"), height: draw.maybe(0.5))
      let coded = Hollow.Coded(text: draw.maybe("t"), spot: .init(row: draw.maybe(4)))
      let stop = Hollow.Stop(
        number: number, prep: .init(place: place, note: draw.maybe("n")), coded: coded)
      stop.home = .init(city: draw.maybe("c"), floor: draw.maybe(0))
      let extra = Hollow.Extra(
        inner: .init(depth: draw.maybe(2)), label: draw.maybe("l"),
        other: draw.maybe(Hollow.Width(width: 3)))
      // Nothing tells an optional struct whose fields are all nil from nil.
      stop.extra = extra == .init(inner: .init()) ? nil : extra
      stop.strict = .init(code: "x", rest: draw.maybe("r"))
      wanted.append(stop)
      rows.append([
        "ZNUMBER": number, "ZCITY": stop.home.city, "ZFLOOR": stop.home.floor,
        "ZSTREET": place.street, "ZHEIGHT": place.height, "ZNOTE": stop.prep.note,
        "ZDEPTH": extra.inner.depth, "ZLABEL": extra.label, "ZWIDTH": extra.other?.width,
        "ZTXT": coded.text, "ZROW": coded.spot.row, "ZCODE": "x", "ZREST": stop.strict.rest,
      ])
    }
    let container = try memoryContainer(Hollow.Stop.self)
    let report = try stops(rows).importing(to: container).run()
    #expect(report.defaultedValues.isEmpty && report.leftOutValues.isEmpty)
    let found = try ModelContext(container).fetch(FetchDescriptor<Hollow.Stop>())
      .sorted { $0.number < $1.number }
    #expect(found.count == wanted.count)
    for (one, other) in zip(found, wanted) {
      #expect(one.home == other.home && one.prep == other.prep && one.extra == other.extra)
      #expect(one.coded == other.coded && one.strict == other.strict)
    }
  }

  @Test func `a struct that cannot be empty has its default value only if that is accepted`() throws
  {
    let fixture = try stops([["ZNUMBER": 1, "ZCODE": "x"], ["ZNUMBER": 2], ["ZNUMBER": 3]])
    let container = try memoryContainer(Hollow.Stop.self)
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.code == .unsupported && error.message.contains("Stop.strict (2)"), "\(error)")
    var mapping = CoreDataMapping()
    mapping.acceptsDefaults = true
    let report = try fixture.importing(to: container, mapping: mapping).run()
    #expect(report.defaultedValues == ["Stop.strict": 2])
    let found = try ModelContext(container).fetch(FetchDescriptor<Hollow.Stop>())
    #expect(found.map(\.strict.code).sorted() == ["none", "none", "x"])
    #expect(found.allSatisfy { $0.home == Hollow.Home() })
  }
}
