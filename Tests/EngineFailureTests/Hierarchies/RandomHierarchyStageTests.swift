import SteadSQLite

@testable import SteadRecords

/// A custom stage between two random versions of a class hierarchy, whose properties get other types, go, or are new.
///
/// What is right is known from how the versions are made.
private struct HierarchyStage: CustomStringConvertible {
  private typealias Draft = SketchedSchema.Field

  enum Kind: CaseIterable { case integer, real, text, data }

  /// A property, and what becomes of it.
  struct Field {
    var name: String
    var declarer: String
    /// nil for a new one.
    var old: Kind?
    /// nil for one that goes.
    var new: Kind?
    var isOptional = true
    var hasDefault = false
    var isUnique = false

    var isReplaced: Bool {
      guard let old, let new, old != new else { return false }
      return old != .integer || new == .data
    }

    var preset: SQLValue {
      guard hasDefault else { return .null }
      return switch new {
      case .integer?: .integer(7)
      case .real?: .real(0.5)
      case .text?: .text("7")
      case .data?: .blob(Data([7]))
      case nil: .null
      }
    }

    /// What the stage makes of a value.
    func converted(_ value: SQLValue) -> SQLValue {
      if isReplaced { return preset }
      guard old != new else { return value }
      guard case .integer(let number) = value else { return isOptional ? .null : preset }
      return new == .real ? .real(Double(number)) : .text("\(number)")
    }
  }

  static let classes = ["Base", "A", "B", "Leaf"]
  private static let parents = ["A": "Base", "B": "Base", "Leaf": "A"]

  private(set) var fields: [Field] = []
  /// The properties that the stage has read, each of objects of one class, as `Class.name`.
  private(set) var reads: Set<String> = []
  private(set) var discarded: Set<String> = []

  init(using random: inout SplitMix) {
    for number in 0..<4 {
      let declarer = Self.classes.randomElement(using: &random) ?? ""
      fields.append(Self.field("p\(number)", of: declarer, using: &random))
    }
    // Both siblings have a property of one name, which share a column and its type; one may go.
    var twin = Self.field("twin", of: "A", using: &random)
    twin.isUnique = false
    for declarer in ["A", "B"] {
      twin.declarer = declarer
      fields.append(twin)
      if Int.random(in: 0..<3, using: &random) == 0 { fields[fields.count - 1].new = nil }
    }
    if Int.random(in: 0..<3, using: &random) == 0 {
      let declarer = Self.classes.randomElement(using: &random) ?? ""
      fields.append(Field(name: "added", declarer: declarer, new: .text))
    }
    for type in Self.classes {
      for field in fields where has(type, field) && field.old != nil {
        let name = "\(type).\(field.name)"
        if Int.random(in: 0..<3, using: &random) == 0 { reads.insert(name) }
        if Int.random(in: 0..<8, using: &random) == 0 { discarded.insert(name) }
      }
    }
  }

  private static func field(
    _ name: String, of declarer: String, using random: inout SplitMix
  ) -> Field {
    let old: Kind = Int.random(in: 0..<4, using: &random) == 0 ? .text : .integer
    var field = Field(name: name, declarer: declarer, old: old, new: old)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: field.new = nil
    case 1: field.new = .data
    case 2...6: field.new = old == .text ? .integer : Bool.random(using: &random) ? .real : .text
    default: return field
    }
    field.hasDefault = Bool.random(using: &random)
    field.isOptional = !field.hasDefault || Bool.random(using: &random)
    field.isUnique = field.new != nil && Int.random(in: 0..<4, using: &random) == 0
    return field
  }

  static func lineage(_ name: String) -> [String] {
    [name] + (parents[name].map { lineage($0) } ?? [])
  }

  func has(_ type: String, _ field: Field) -> Bool {
    Self.lineage(type).contains(field.declarer)
  }

  func schema(isNew: Bool) -> SketchedSchema {
    SketchedSchema(
      classes: Self.classes.map { name in
        let own = fields.filter { $0.declarer == name && (isNew ? $0.new : $0.old) != nil }
        return SketchedSchema.Class(
          name: name, parent: Self.parents[name], fields: own.map { draft($0, isNew: isNew) },
          keys: isNew ? own.filter(\.isUnique).map { [$0.name] } : [])
      })
  }

  private func draft(_ field: Field, isNew: Bool) -> Draft {
    guard isNew else {
      return Draft(name: field.name, type: field.old == .text ? String?.self : Int?.self)
    }
    return switch (field.new ?? .text, field.isOptional) {
    case (.integer, let isOptional):
      Draft(
        name: field.name, type: isOptional ? Int?.self : Int.self,
        defaultValue: field.hasDefault ? 7 : nil)
    case (.real, let isOptional):
      Draft(
        name: field.name, type: isOptional ? Double?.self : Double.self,
        defaultValue: field.hasDefault ? 0.5 : nil)
    case (.text, let isOptional):
      Draft(
        name: field.name, type: isOptional ? String?.self : String.self,
        defaultValue: field.hasDefault ? "7" : nil)
    case (.data, let isOptional):
      Draft(
        name: field.name, type: isOptional ? Data?.self : Data.self,
        defaultValue: field.hasDefault ? Data([7]) : nil)
    }
  }

  // MARK: What is right

  /// What the stage loses: the properties of each class, with the number of its objects that have a value.
  func lost(_ rows: [HierarchyStageRow]) -> Set<String> {
    let addsPlaces = fields.contains { $0.old == nil || $0.isReplaced }
    var lost: Set<String> = []
    for type in Self.classes {
      for field in fields where has(type, field) && field.old != nil {
        let name = "\(type).\(field.name)"
        let isKept = field.new == nil ? !addsPlaces : !field.isReplaced
        let count = rows.count { $0.type == type && $0.values[field.name] ?? .null != .null }
        if isKept || isRead(field) || discarded.contains(name) || count == 0 { continue }
        lost.insert("\(name) (\(count))")
      }
    }
    return lost
  }

  /// Reads of one class count for those that have the same property.
  private func isRead(_ field: Field) -> Bool {
    Self.classes.contains { has($0, field) && reads.contains("\($0).\(field.name)") }
  }

  /// The unique properties of which rows would share a value.
  func shared(_ rows: [HierarchyStageRow]) -> [Field] {
    fields.filter { field in
      guard field.isUnique else { return false }
      let values = rows.filter { has($0.type, field) }
        .map { field.converted($0.values[field.name] ?? .null) }.filter { $0 != .null }
      return values.indices.contains { values[..<$0].contains(values[$0]) }
    }
  }

  /// Reads as the closure of a stage would.
  func read(_ container: ModelContainer) {
    for entity in container.layout.entities {
      for property in entity.properties where reads.contains("\(entity.name).\(property.name)") {
        entity.reads?.record(property.index)
      }
      _ = container.store(of: entity)?.plans[entity.index]?.plan
      entity.reads?.recordObject()
    }
  }

  var description: String {
    let texts = fields.map { field in
      "\(field.declarer).\(field.name): \(field.old.map { "\($0)" } ?? "-")"
        + " > \(field.new.map { "\($0)" } ?? "-")"
        + (field.isOptional ? "?" : "") + (field.hasDefault ? " = default" : "")
        + (field.isUnique ? " unique" : "")
    }
    return texts.joined(separator: ", ")
      + "; reads \(reads.sorted()), discards \(discarded.sorted())"
  }
}

private struct HierarchyStageRow {
  let number: Int64
  let type: String
  var values: [String: SQLValue] = [:]
}

/// Custom stages were tested with models that have no subclasses.
@Suite("Random stages of a class hierarchy") struct RandomHierarchyStageTests {
  @Test func `a stage keeps, converts or refuses the values of each class as a plain model says`()
    async throws
  {
    var (refused, shared, passed) = (0, 0, 0)
    for seed in 0..<UInt64(Effort.times(60)) {
      var random = SplitMix(seed: Effort.seed &* 10_000 &+ seed)
      switch try run(HierarchyStage(using: &random), "seed \(seed)", &random) {
      case .refused: refused += 1
      case .shared: shared += 1
      case .passed: passed += 1
      }
      await Task.yield()
    }
    #expect(
      refused > 5 && shared > 1 && passed > 10 || !Effort.isRepresentative,
      "\(refused) refused, \(shared) shared, \(passed)")
  }

  private enum Outcome { case refused, shared, passed }

  private func fill(
    _ stage: HierarchyStage, _ store: SketchedStore, _ random: inout SplitMix
  ) throws -> [HierarchyStageRow] {
    let opened = try store.open(stage.schema(isNew: false))
    return try (1...Int64.random(in: 1...8, using: &random)).map { number in
      var row = HierarchyStageRow(
        number: number, type: HierarchyStage.classes.randomElement(using: &random) ?? "Base")
      for field in stage.fields where stage.has(row.type, field) && field.old != nil {
        guard Int.random(in: 0..<4, using: &random) > 0 else { continue }
        let value = Int64.random(in: 0..<12, using: &random)
        row.values[field.name] = field.old == .text ? .text("t\(value)") : .integer(value)
      }
      try opened.add(number, of: row.type, row.values)
      return row
    }
  }

  private func run(
    _ stage: HierarchyStage, _ name: String, _ random: inout SplitMix
  ) throws -> Outcome {
    let comment: Comment = "\(name): \(stage)"
    let directory = try TemporaryDirectory(inMemory: true)
    let store = SketchedStore(directory.file("stage.store"))
    let rows = try fill(stage, store, &random)
    let conversions: Set<ValueConversion.Property>
    do {
      var configuration = store.configuration
      configuration.migration = .beforeCustomStage
      let container = try ModelContainer(
        for: stage.schema(isNew: false).schema, migrationPlan: nil,
        configurations: [configuration], isCurrent: false
      ) { _ in nil }
      stage.read(container)
      let data = StageData(
        from: container, to: stage.schema(isNew: true).schema, discarded: stage.discarded)
      let lost = try data.lost()
      #expect(Set(lost) == stage.lost(rows) && lost.count == Set(lost).count, comment)
      guard lost.isEmpty else { return .refused }
      conversions = try data.conversions()
    }
    func migrate() throws -> RecordStore {
      try store.open(
        stage.schema(isNew: true), role: .ofCustomStage, converting: conversions)
    }
    let shared = stage.shared(rows)
    guard shared.isEmpty else {
      let error = #expect(throws: SwiftDataError.self, comment) { _ = try migrate() }
      for field in shared {
        #expect(
          error?.message.contains("\(field.declarer).\(field.name) is now unique") == true,
          comment)
      }
      return .shared
    }
    let opened = try migrate()
    for type in HierarchyStage.classes {
      for field in stage.fields where stage.has(type, field) && field.new != nil {
        var expected: [Int64: SQLValue] = [:]
        for row in rows where row.type == type {
          expected[row.number] = field.converted(row.values[field.name] ?? .null)
        }
        #expect(try opened.values(field.name, of: type) == expected, comment)
      }
    }
    return .passed
  }
}
