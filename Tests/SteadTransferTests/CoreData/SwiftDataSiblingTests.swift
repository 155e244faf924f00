import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadTransfer

/// Two classes of one table whose properties and fields have the same names.
enum Siblings {
  enum Stage: Codable, Equatable, CaseIterable { case planned, running }
  enum Action: Codable, Equatable {
    case idle
    case move(distance: Int)
  }

  struct Mark: Codable, Equatable {
    var row: Int?
    var open: Bool?
    var code: UUID?
    var action: Action?
  }

  @Model class Base {
    var number: Int
    init(number: Int) { self.number = number }
  }

  @Model final class Left: Base {
    var mark = Mark()
    var stage: Stage = Stage.planned
    override init(number: Int) { super.init(number: number) }
  }

  @Model final class Right: Base {
    var mark: Mark?
    var stage: Stage = Stage.running
    override init(number: Int) { super.init(number: number) }
  }
}

/// Core Data numbers the columns of names that several classes of a table have, and each class uses columns of its own.
@Suite struct SwiftDataSiblingTests {
  private typealias Property = ModelCache.Property
  private static let names = ["ROW", "OPEN", "CODE", "IDLE", "DISTANCE", "PLANNED", "RUNNING"]
  private static let types = [
    "INTEGER", "INTEGER", "BLOB", "VARCHAR", "INTEGER", "VARCHAR", "VARCHAR",
  ]

  private static let base: [Property] = [.attribute("number", 300)]
  private static let sub =
    base + [
      .composite(
        "mark",
        [
          .attribute("row", 300), .attribute("open", 800), .attribute("code", 1100),
          .composite(
            "action", [.attribute("idle", 700), .composite("move", [.attribute("distance", 300)])]),
        ]), .composite("stage", [.attribute("planned", 700), .attribute("running", 700)]),
    ]

  /// A row's values, as SQL and as they are.
  private struct Row {
    let number: Int
    let mark: Siblings.Mark
    let stage: Siblings.Stage

    init(_ number: Int, _ random: inout SplitMix) {
      func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
      self.number = number
      let (one, two) = (random.next(), random.next())
      let code = withUnsafeBytes(of: (one, two)) { UUID(uuid: $0.load(as: uuid_t.self)) }
      let action = maybe(Siblings.Action.idle) ?? .move(distance: number)
      mark = .init(
        row: maybe(number), open: maybe(number % 2 == 0), code: maybe(code), action: maybe(action))
      stage = maybe(.planned) ?? .running
    }

    /// - Parameter suffix: What the names of the class's columns end with.
    func insert(_ entity: Int, _ suffix: String) -> String {
      var columns = ["Z\(stage)".uppercased() + suffix: "'\(stage)'", "ZNUMBER": "\(number)"]
      columns["ZROW" + suffix] = mark.row.map { "\($0)" }
      columns["ZOPEN" + suffix] = mark.open.map { $0 ? "1" : "0" }
      columns["ZCODE" + suffix] = mark.code.map {
        "x'" + $0.uuidString.replacing("-", with: "") + "'"
      }
      switch mark.action {
      case .idle: columns["ZIDLE" + suffix] = "'idle'"
      case .move(let distance): columns["ZDISTANCE" + suffix] = "\(distance)"
      case nil: break
      }
      let fields = columns.sorted { $0.key < $1.key }
      return "INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, \(fields.map(\.key).joined(separator: ", "))) "
        + "VALUES (\(number), \(entity), 1, \(fields.map(\.value).joined(separator: ", ")));\n"
    }
  }

  @Test(arguments: 0..<UInt64(4), [true, false])
  func `fields that two classes of a table have come over from each one's columns`(
    seed: UInt64, isLeftFirst: Bool
  ) throws {
    var random = SplitMix(seed: seed)
    let columns = zip(Self.names, Self.types).flatMap { ["Z\($0) \($1)", "Z\($0)1 \($1)"] }
    var sql =
      "CREATE TABLE ZBASE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNUMBER INTEGER, "
      + columns.joined(separator: ", ") + ");\n"
    var rows: [Row] = []
    for number in 1...12 {
      let row = Row(number, &random)
      let isLeft = number % 2 == 0
      sql += row.insert(isLeft ? 2 : 3, isLeft == isLeftFirst ? "" : "1")
      rows.append(row)
    }
    let cache = try ModelCache.literal(["Base": Self.base, "Left": Self.sub, "Right": Self.sub])
    let fixture = try CoreDataFixture(
      entities: [.init(1, "Base"), .init(2, "Left", under: 1), .init(3, "Right", under: 1)],
      sql + "INSERT INTO Z_MODELCACHE VALUES (\(cache));")
    let container = try memoryContainer(Siblings.Base.self, Siblings.Left.self, Siblings.Right.self)
    let report = try fixture.importing(to: container).run()
    #expect(report.leftOutValues.isEmpty && report.missingProperties.isEmpty)
    let found = try ModelContext(container).fetch(FetchDescriptor<Siblings.Base>())
      .sorted { $0.number < $1.number }
    #expect(found.count == rows.count)
    for (object, row) in zip(found, rows) {
      let empty = row.mark == Siblings.Mark()
      if let left = object as? Siblings.Left {
        #expect(left.mark == row.mark && left.stage == row.stage)
      } else {
        let right = try #require(object as? Siblings.Right)
        #expect(right.mark == (empty ? nil : row.mark) && right.stage == row.stage)
      }
    }
  }
}
