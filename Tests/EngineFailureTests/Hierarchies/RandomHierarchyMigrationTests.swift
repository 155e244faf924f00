import SteadSQLite

@testable import SteadRecords

/// Random versions of a class hierarchy, one after another, in which properties come, go, move between classes, get other
/// names, and take each other's.
@Suite("random versions of a class hierarchy") struct RandomHierarchyMigrationTests {
  @Test func `each class keeps what it still has, and gets nothing that it has lost`() async throws
  {
    var (followed, refused, renamed) = (0, 0, 0)
    for seed in 1...UInt64(Effort.times(12)) {
      var random = SplitMix(seed: seed)
      var trial = try VersionTrial(seed, &random)
      for _ in 0..<5 {
        try trial.migrate(&random) ? (followed += 1) : (refused += 1)
        renamed += trial.renamings
      }
      await Task.yield()
    }
    #expect(
      followed > 0 && refused > 0 && renamed > 20 || !Effort.isRepresentative,
      "\(followed) followed, \(refused) were refused, \(renamed) properties were renamed")
  }
}

/// Which class declares which property.
private struct VersionDraft: CustomStringConvertible {
  static let classes = ["Base", "A", "B", "Leaf"]
  static let parents = ["A": "Base", "B": "Base", "Leaf": "A"]
  /// Sets of classes of which none inherits from another.
  private static let declarers: [Set<String>] = [
    [], ["Base"], ["A"], ["B"], ["Leaf"], ["A", "B"], ["Leaf", "B"],
  ]
  private static let pairDeclarers: [Set<String>] = [
    ["Base"], ["A"], ["A", "B"], ["Leaf", "B"],
  ]
  static let attributes = ["plain", "filled", "required", "key"]
  static let references = ["first", "second"]
  static let pairs = "many"

  var declarers: [String: Set<String>] = [:]
  /// The class of the members of each list over a reference, by the list's name.
  var lists: [String: (reference: String, members: String)] = [:]
  /// What each property is called in the store, and the name that this version says it had.
  private(set) var names: [String: (now: String, claim: String?)] = [:]

  init() {
    for name in Self.attributes + Self.references + [Self.pairs] { names[name] = (name, nil) }
  }

  init(_ random: inout SplitMix, from old: VersionDraft = VersionDraft()) {
    let isMoved = Bool.random(using: &random)
    declarers[Self.pairs] =
      isMoved || old.declarers.isEmpty
      ? Self.pairDeclarers.randomElement(using: &random) : old.declarers[Self.pairs]
    for name in Self.attributes + Self.references {
      let isChanged = old.declarers[name] == nil || Int.random(in: 0..<3, using: &random) == 0
      declarers[name] =
        isChanged ? Self.declarers.randomElement(using: &random) : old.declarers[name]
    }
    names = old.names.mapValues { ($0.now, nil) }
    rename(&random, from: old)
    for reference in Self.references {
      for declarer in declarers[reference, default: []].sorted()
      where Int.random(in: 0..<3, using: &random) > 0 {
        let family = Self.classes.filter { Self.lineage($0).contains(declarer) }
        let members = family.randomElement(using: &random) ?? declarer
        lists["\(reference)Of\(members)"] = (reference, members)
      }
    }
  }

  /// Gives some properties other names, and some pairs each other's.
  ///
  /// None that the version before has just renamed: what it says there would count, too.
  private mutating func rename(_ random: inout SplitMix, from old: VersionDraft) {
    for name in names.keys.sorted() where Int.random(in: 0..<5, using: &random) == 0 {
      guard let was = old.names[name], was.claim == nil else { continue }
      names[name] = (
        "\(name)\(Int.random(in: 0..<1_000_000, using: &random))", was.now
      )
    }
    for (one, other) in [("plain", "key"), ("filled", "required"), ("first", "second")]
    where Int.random(in: 0..<4, using: &random) == 0 {
      let sets = [old.declarers[one], old.declarers[other], declarers[one], declarers[other]]
      guard let first = old.names[one], let second = old.names[other], Set(sets).count == 1,
        first.claim == nil, second.claim == nil
      else { continue }
      names[one] = (second.now, first.now)
      names[other] = (first.now, second.now)
    }
  }

  /// What a property is called in the store.
  func name(_ property: String) -> String { names[property]?.now ?? property }

  /// A class and its superclasses, from the class up.
  static func lineage(_ name: String) -> [String] {
    [name] + (parents[name].map { lineage($0) } ?? [])
  }

  /// The class that a class has a property of.
  func declarer(of property: String, in name: String) -> String? {
    Self.lineage(name).first { declarers[property]?.contains($0) ?? false }
  }

  static func defaultValue(_ attribute: String) -> SQLValue {
    ["filled", "required"].contains(attribute) ? .text("new") : .null
  }

  var schema: SketchedSchema {
    func field(_ name: String) -> SketchedSchema.Field {
      var field = SketchedSchema.Field(name: self.name(name))
      field.originalName = names[name]?.claim
      switch name {
      case "plain", "key": field.type = Int?.self
      case "required": (field.type, field.defaultValue) = (String.self, "new")
      default: field.defaultValue = "new"
      }
      return field
    }
    func isDeclared(_ property: String, _ name: String) -> Bool {
      declarers[property]?.contains(name) ?? false
    }
    let classes = Self.classes.map { name in
      let links =
        Self.references.filter { isDeclared($0, name) }.map { reference in
          // A list's inverse is that of its members' class or of a superclass.
          let list = lists.first {
            $0.value.reference == reference
              && declarer(of: reference, in: $0.value.members) == name
          }
          return SketchedSchema.Link(
            name: self.name(reference), destination: "Holder", inverse: list?.key,
            originalName: names[reference]?.claim)
        }
        + (isDeclared(Self.pairs, name)
          ? [
            SketchedSchema.Link(
              name: self.name(Self.pairs), destination: "Holder", isMany: true,
              originalName: names[Self.pairs]?.claim)
          ] : [])
      return SketchedSchema.Class(
        name: name, parent: Self.parents[name],
        fields: Self.attributes.filter { isDeclared($0, name) }.map(field), links: links,
        keys: isDeclared("key", name) ? [[self.name("key")]] : [])
    }
    let holder = SketchedSchema.Class(
      name: "Holder",
      links: lists.sorted { $0.key < $1.key }.map {
        SketchedSchema.Link(
          name: $0.key, destination: $0.value.members, isMany: true,
          inverse: self.name($0.value.reference))
      })
    return SketchedSchema(classes: classes + [holder])
  }

  /// Whether pairs of one table would have to go to two.
  func splitsPairs(into new: VersionDraft) -> Bool {
    var places: [String: Set<String>] = [:]
    for name in Self.classes {
      guard let old = declarer(of: Self.pairs, in: name),
        let now = new.declarer(of: Self.pairs, in: name)
      else { continue }
      places[old, default: []].insert(now)
    }
    return places.values.contains { $0.count > 1 }
  }

  var description: String {
    declarers.sorted { $0.key < $1.key }.map { property, classes in
      "\(names[property]?.claim.map { "\($0) > " } ?? "")\(name(property)): \(classes.sorted())"
    }
    .joined(separator: ", ") + ", \(lists.keys.sorted())"
  }
}

/// A store and what it should hold.
private struct VersionTrial {
  private struct Row {
    let type: String
    var values: [String: SQLValue] = [:]
    var targets: Set<Int64> = []
  }

  private let seed: UInt64
  private let directory: TemporaryDirectory
  private let store: SketchedStore
  private var draft: VersionDraft
  private var rows: [Int64: Row] = [:]
  /// How many properties the last version has renamed.
  private(set) var renamings = 0

  init(_ seed: UInt64, _ random: inout SplitMix) throws {
    self.seed = seed
    directory = try TemporaryDirectory(inMemory: true)
    store = SketchedStore(directory.file("random.store"))
    draft = VersionDraft(&random)
    let opened = try store.open(draft.schema)
    for holder in 1...3 { try opened.add(Int64(holder), of: "Holder") }
    for _ in 0..<6 { try add(opened, &random) }
    try check(opened, "at first")
  }

  private mutating func add(_ opened: RecordStore, _ random: inout SplitMix) throws {
    let number = Int64(rows.count + 1)
    var row = Row(type: VersionDraft.classes.randomElement(using: &random) ?? "Base")
    for name in VersionDraft.attributes + VersionDraft.references
    where draft.declarer(of: name, in: row.type) != nil {
      row.values[name] =
        switch name {
        case "plain": .integer(number * 10)
        case "key": .integer(number)
        case "first", "second": .integer(Int64.random(in: 1...3, using: &random))
        default: .text("old \(number)")
        }
    }
    try opened.add(
      number, of: row.type,
      Dictionary(uniqueKeysWithValues: row.values.map { (draft.name($0.key), $0.value) }))
    if draft.declarer(of: VersionDraft.pairs, in: row.type) != nil {
      row.targets = [Int64.random(in: 1...2, using: &random), 3]
      for target in row.targets {
        try opened.add(pair: number, target, of: row.type, draft.name(VersionDraft.pairs))
      }
    }
    rows[number] = row
  }

  /// Opens the store with another version; whether it followed.
  mutating func migrate(_ random: inout SplitMix) throws -> Bool {
    let new = VersionDraft(&random, from: draft)
    let moment = "from \(draft) to \(new)"
    renamings = 0
    if draft.splitsPairs(into: new) {
      #expect(throws: SwiftDataError.self, "seed \(seed) \(moment)") {
        try store.open(new.schema)
      }
      try check(store.open(draft.schema), moment)
      return false
    }
    for (number, row) in rows {
      for name in VersionDraft.attributes + VersionDraft.references {
        if new.declarer(of: name, in: row.type) == nil {
          rows[number]?.values[name] = nil
        } else if draft.declarer(of: name, in: row.type) == nil {
          rows[number]?.values[name] = VersionDraft.defaultValue(name)
        }
      }
      if new.declarer(of: VersionDraft.pairs, in: row.type) == nil { rows[number]?.targets = [] }
    }
    renamings = new.names.values.count { $0.claim != nil }
    draft = new
    let opened = try store.open(draft.schema)
    try check(opened, moment)
    for _ in 0..<2 { try add(opened, &random) }
    try check(store.open(draft.schema), "again \(moment)")
    return true
  }

  private func check(_ opened: RecordStore, _ moment: String) throws {
    let comment: Comment = "seed \(seed) \(moment)"
    for type in VersionDraft.classes {
      let own = rows.filter { $0.value.type == type }
      for name in VersionDraft.attributes + VersionDraft.references
      where !draft.declarers[name, default: []].isEmpty {
        // A class without the property has nothing in the column.
        #expect(
          try opened.values(draft.name(name), of: type)
            == own.mapValues { $0.values[name] ?? .null },
          "\(type).\(name) \(comment)")
      }
      guard draft.declarer(of: VersionDraft.pairs, in: type) != nil else { continue }
      #expect(
        try opened.members(draft.name(VersionDraft.pairs), of: type)
          == own.mapValues { $0.targets.sorted() }.filter { !$0.value.isEmpty },
        "\(type).\(VersionDraft.pairs) \(comment)")
    }
    for (name, list) in draft.lists {
      var expected: [Int64: [Int64]] = [:]
      for (number, row) in rows.sorted(by: { $0.key < $1.key })
      where VersionDraft.lineage(row.type).contains(list.members) {
        if case .integer(let holder)? = row.values[list.reference] {
          expected[holder, default: []].append(number)
        }
      }
      #expect(try opened.members(name, of: "Holder") == expected, "\(name) \(comment)")
    }
  }
}
