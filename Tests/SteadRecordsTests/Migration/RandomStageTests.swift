import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// A custom stage between two random versions: members that are renamed, get another type, go, or are new, and what the
/// stage has read of the old ones.
///
/// What is right is known from how the versions are made.
private struct RandomStage {
  enum Change {
    /// Values have a counterpart of the new type.
    case converted((SQLValue) -> SQLValue)
    case replaced
  }

  let old: RandomSchema
  private(set) var renaming: RandomRenaming
  /// By new entity and attribute, what has become of the type.
  private(set) var changes: [String: [String: Change]] = [:]
  /// The members that the stage has read, as `Entity.name`.
  private(set) var reads: Set<String> = []
  /// The classes of which it has fetched objects.
  private(set) var fetched: Set<String> = []
  /// What may be dropped without a look.
  private(set) var discarded: Set<String> = []

  init?(using random: inout SplitMix) {
    old = RandomRenaming.first(using: &random)
    guard let renaming = RandomRenaming(of: old, using: &random) else { return nil }
    self.renaming = renaming
    if Bool.random(using: &random) { removeAdditions() }
    for index in self.renaming.new.links.indices { cutSide(of: index, using: &random) }
    changeTypes(using: &random)
    for entity in old.entities.keys.sorted() {
      if Int.random(in: 0..<4, using: &random) == 0 { discarded.insert(entity) }
      for name in Self.members(of: entity, old) {
        if Int.random(in: 0..<3, using: &random) == 0 { reads.insert("\(entity).\(name)") }
        if Int.random(in: 0..<6, using: &random) == 0 { discarded.insert("\(entity).\(name)") }
      }
      if Bool.random(using: &random) { fetched.insert(entity) }
    }
  }

  static func members(of entity: String, _ schema: RandomSchema) -> [String] {
    let ends = schema.links.flatMap(\.ends).filter { $0.entity == entity }
    return (schema.entities[entity] ?? []).map(\.name) + ends.map(\.name)
  }

  private mutating func removeAdditions() {
    for (entity, attributes) in renaming.new.entities {
      guard renaming.entities[entity] != nil else {
        renaming.new.entities[entity] = nil
        continue
      }
      renaming.new.entities[entity] = attributes.filter {
        renaming.members[entity]?[$0.name] != nil
      }
    }
  }

  /// Sometimes removes one side of a relationship, whose links the other side keeps.
  private mutating func cutSide(of index: Int, using random: inout SplitMix) {
    let link = renaming.new.links[index]
    guard let inverse = link.inverse, Int.random(in: 0..<4, using: &random) == 0 else { return }
    renaming.new.links[index] =
      Bool.random(using: &random)
      ? RandomSchema.Link(end: link.end, inverse: nil, destination: link.destination)
      : RandomSchema.Link(end: inverse, inverse: nil, destination: link.end.entity)
  }

  private mutating func changeTypes(using random: inout SplitMix) {
    for entity in renaming.new.entities.keys.sorted() {
      for index in (renaming.new.entities[entity] ?? []).indices {
        guard var attribute = renaming.new.entities[entity]?[index],
          renaming.members[entity]?[attribute.name] != nil,
          Int.random(in: 0..<3, using: &random) == 0
        else { continue }
        let change: Change
        switch (attribute.kind, Bool.random(using: &random)) {
        case (.integer, true), (.small, true):
          attribute.kind = .real
          change = .converted { if case .integer(let it) = $0 { .real(Double(it)) } else { $0 } }
        case (.integer, false), (.small, false):
          attribute.kind = .text
          change = .converted { if case .integer(let it) = $0 { .text("\(it)") } else { $0 } }
        case (.text, _): (attribute.kind, change) = (.integer, .replaced)
        case (.real, _): (attribute.kind, change) = (.text, .replaced)
        case (.data, _), (.file, _): (attribute.kind, change) = (.real, .replaced)
        }
        attribute.isOptional = Bool.random(using: &random)
        attribute.hasDefault = Bool.random(using: &random)
        attribute.isUnique = Int.random(in: 0..<4, using: &random) == 0
        renaming.new.entities[entity]?[index] = attribute
        changes[entity, default: [:]][attribute.name] = change
      }
    }
  }

  // MARK: What is right

  /// Whether the new version has something that could have been meant to take values. What gets a type that its old values
  /// don't convert to is such a thing.
  private var addsPlaces: Bool {
    renaming.new.entities.contains { entity, attributes in
      renaming.entities[entity] == nil
        || attributes.contains { attribute in
          guard renaming.members[entity]?[attribute.name] != nil else { return true }
          if case .replaced? = changes[entity]?[attribute.name] { return true }
          return false
        }
    }
  }

  /// What the stage loses: the models and members, each with the number of objects.
  func lost(_ contents: RandomStore.Contents) -> Set<String> {
    var lost: Set<String> = []
    let now = Dictionary(uniqueKeysWithValues: renaming.entities.map { ($0.value, $0.key) })
    for entity in old.entities.keys where !discarded.contains(entity) {
      let rows = contents.rows[entity] ?? [:]
      guard let new = now[entity] else {
        if !fetched.contains(entity), !rows.isEmpty { lost.insert("\(entity) (\(rows.count))") }
        continue
      }
      func note(_ name: String, _ count: Int) {
        guard count > 0, !discarded.contains("\(entity).\(name)") else { return }
        lost.insert("\(entity).\(name) (\(count))")
      }
      for attribute in old.entities[entity] ?? []
      where !reads.contains("\(entity).\(attribute.name)") {
        let count = rows.values.count { $0[attribute.name] != .null }
        let name = renaming.new.entities[new]?.first {
          renaming.members[new]?[$0.name] == attribute.name
        }?.name
        guard let name else {
          if addsPlaces { note(attribute.name, count) }
          continue
        }
        if case .replaced? = changes[new]?[name] { note(attribute.name, count) }
      }
      guard addsPlaces else { continue }
      for (index, link) in old.links.enumerated() where !renaming.links.values.contains(index) {
        if link.ends.contains(where: { reads.contains("\($0.entity).\($0.name)") }) { continue }
        for (end, isMany) in [(link.end, link.inverse?.isMany), (link.inverse, link.end.isMany)] {
          guard let end, end.entity == entity else { continue }
          // A list over a reference has no place of its own.
          if end.isMany, isMany == false { continue }
          note(end.name, contents.pairs["\(entity).\(end.name)"]?.count ?? 0)
        }
      }
    }
    return lost
  }

  /// What the store holds after the stage.
  func expected(_ contents: RandomStore.Contents) -> RandomStore.Contents {
    var after = renaming.expected(contents, old)
    for (entity, changed) in changes {
      for (name, change) in changed {
        let attribute = renaming.new.entities[entity]?.first { $0.name == name }
        let preset = attribute?.storedDefault ?? .null
        after.rows[entity] = after.rows[entity]?.mapValues { row in
          var row = row
          switch (change, row[name] ?? .null) {
          case (.converted, .null):
            // What had no value gets one only where one is required.
            row[name] = attribute?.isOptional ?? true ? .null : preset
          case (.converted(let convert), let value): row[name] = convert(value)
          case (.replaced, _): row[name] = preset
          }
          return row
        }
      }
    }
    return after
  }

  /// The changed attributes that are unique, and of which rows would share a value, as `Entity.name`.
  func shared(_ after: RandomStore.Contents) -> Set<String> {
    var shared: Set<String> = []
    for (entity, changed) in changes {
      for attribute in renaming.new.entities[entity] ?? []
      where attribute.isUnique && changed[attribute.name] != nil {
        let values = (after.rows[entity] ?? [:]).values.compactMap { row in
          row[attribute.name].flatMap { $0 == .null ? nil : "\($0)" }
        }
        if Set(values).count < values.count { shared.insert("\(entity).\(attribute.name)") }
      }
    }
    return shared
  }

  /// Reads as the closure of a stage would.
  func read(_ container: ModelContainer) throws {
    for entity in container.layout.entities {
      for property in entity.properties where reads.contains("\(entity.name).\(property.name)") {
        entity.reads?.record(property.index)
      }
      // A model whose objects were only counted has the plan, too.
      _ = container.store(of: entity)?.plans[entity.index]?.plan
      if fetched.contains(entity.name) { entity.reads?.recordObject() }
    }
  }
}

/// Custom stages lost columns: a stage that had fetched any object of a class could drop all that it had not read.
@Suite(.hangLimit) struct RandomStageTests {
  @Test func `a random stage keeps, converts or refuses each value as a plain model says`()
    async throws
  {
    var (refused, shared, passed, plain) = (0, 0, 0, 0)
    for seed in 1...UInt64(Effort.times(150, long: 2_500)) {
      var random = SplitMix(seed: seed)
      guard let stage = RandomStage(using: &random) else { continue }
      let comment: Comment = """
        seed \(seed)
        \(stage.old)
        \(stage.renaming.new)
        reads \(stage.reads.sorted()), fetches \(stage.fetched.sorted()), discards \(stage.discarded.sorted())
        """
      let directory = try TemporaryDirectory(inMemory: true)
      let store = RandomStore(directory.file("random.store"))
      try store.fill(stage.old, using: &random)
      let contents = try store.contents(store.open(stage.old))
      var configuration = store.configuration
      configuration.migration = .beforeCustomStage
      let schema = stage.renaming.new.schema
      let data: StageData
      do {
        let container = try ModelContainer(
          for: stage.old.schema, migrationPlan: nil, configurations: [configuration],
          isCurrent: false
        ) { _ in nil }
        try stage.read(container)
        data = StageData(from: container, to: schema, discarded: stage.discarded)
        let lost = try data.lost()
        #expect(Set(lost) == stage.lost(contents) && lost.count == Set(lost).count, comment)
        guard lost.isEmpty else {
          refused += 1
          continue
        }
        configuration.conversions = try data.conversions()
      }
      configuration.migration = .ofCustomStage
      let layout = try StoreLayout(schema: schema)
      let expected = stage.expected(contents)
      func migrate() throws -> RecordStore {
        try RecordStore(
          configuration: configuration, layout: layout, entities: Set(layout.entities.indices))
      }
      let sharing = stage.shared(expected)
      guard sharing.isEmpty else {
        let error = #expect(throws: SwiftDataError.self, comment) { _ = try migrate() }
        for name in sharing {
          #expect(error?.message.contains("\(name) is now unique") == true, comment)
        }
        shared += 1
        continue
      }
      #expect(try store.contents(migrate()).withoutOrder == expected.withoutOrder, comment)
      passed += 1
      if stage.changes.isEmpty { plain += 1 }
      await Task.yield()
    }
    #expect(
      refused > 25 && shared > 3 && passed > 25 && plain > 5 || !Effort.isRepresentative,
      "\(refused), \(shared), \(passed), \(plain)")
  }
}
