/// Its name is a key, unless it has none.
@Model final class Fair {
  @Attribute(.unique) var name: String?
  var number: Int
  @Relationship(inverse: \Booth.fair) var booths: [Booth] = []

  init(name: String?, number: Int) { (self.name, self.number) = (name, number) }
}

/// Has a label once in a fair.
@Model final class Booth {
  #Unique<Booth>([\.fair, \.label])
  var fair: Fair?
  var label: String?
  var number: Int
  /// Which does not know of it.
  var neighbor: Booth?

  init(label: String?, number: Int) { (self.label, self.number) = (label, number) }
}

/// Keys were tested with plain texts, and one at a time.
@Suite("Hostile unique keys") struct HostileKeyTests {
  @Test(arguments: StorePlace.allCases, [false, true])
  func `new objects are one row exactly if all parts of their keys are equal and none is nil`(
    place: StorePlace, hasUndo: Bool
  ) async throws {
    for seed in 0..<UInt64(Effort.times(place == .memory ? 6 : 2)) {
      var trial = try KeyTrial(
        seed: Effort.seed &* 1_000 &+ seed, TestStore(place, Fair.self, Booth.self),
        hasUndo: hasUndo)
      for _ in 0..<4 { try trial.round() }
      await Task.yield()
    }
  }
}

/// What a store holds, by what tells rows apart: the key, or a number of its own where the key has a nil.
private struct KeyedRows: Equatable {
  /// The bytes, since canonically equivalent strings are equal.
  typealias Text = [UInt8]

  enum FairKey: Hashable { case named(Text), loose(Int) }
  enum BoothKey: Hashable { case labelled(FairKey, Text), loose(Int) }

  struct BoothRow: Equatable {
    var number: Int
    var fair: FairKey?
    var label: Text?
    var neighbor: BoothKey?
  }

  var fairs: [FairKey: Int] = [:]
  var booths: [BoothKey: BoothRow] = [:]

  static func key(of fair: Fair) -> FairKey {
    fair.name.map { .named(Array($0.utf8)) } ?? .loose(fair.number)
  }

  static func key(of booth: Booth) -> BoothKey {
    guard let fair = booth.fair, let label = booth.label else { return .loose(booth.number) }
    return .labelled(key(of: fair), Array(label.utf8))
  }

  init() {}

  init(_ context: ModelContext) throws {
    for fair in try context.all(Fair.self) {
      #expect(fairs.updateValue(fair.number, forKey: Self.key(of: fair)) == nil)
    }
    for booth in try context.all(Booth.self) {
      #expect(booths.updateValue(Self.row(of: booth), forKey: Self.key(of: booth)) == nil)
    }
    for fair in try context.all(Fair.self) {
      #expect(fair.booths.allSatisfy { $0.fair === fair })
      #expect(
        fair.booths.count == booths.values.count { $0.fair == Self.key(of: fair) },
        "A list has each row once.")
    }
  }

  static func row(of booth: Booth) -> BoothRow {
    BoothRow(
      number: booth.number, fair: booth.fair.map(key(of:)),
      label: booth.label.map { Array($0.utf8) }, neighbor: booth.neighbor.map(key(of:)))
  }

  /// Whatever led to a row still does.
  mutating func rename(_ old: BoothKey, to new: BoothKey, label: Text?) {
    guard var row = booths.removeValue(forKey: old) else { return }
    row.label = label
    booths[new] = row
    booths = booths.mapValues { row in
      var row = row
      if row.neighbor == old { row.neighbor = new }
      return row
    }
  }

  /// A deleted booth is nobody's neighbor.
  mutating func remove(_ key: BoothKey) {
    booths[key] = nil
    booths = booths.mapValues { row in
      var row = row
      if row.neighbor == key { row.neighbor = nil }
      return row
    }
  }
}

/// Two contexts that insert objects with few keys, and delete stored ones.
private struct KeyTrial {
  private static let texts: [String?] = [
    nil, "", "\0", "a", "a\0", "a\0b", "\u{E9}", "e\u{301}", "'\"",
  ]

  /// What a context has not saved, in the order of the calls.
  private struct Unsaved {
    var fairs: [(key: KeyedRows.FairKey, number: Int)] = []
    var booths: [(key: KeyedRows.BoothKey, row: KeyedRows.BoothRow)] = []
    var deleted: [KeyedRows.BoothKey] = []
    var renamed: [(old: KeyedRows.BoothKey, new: KeyedRows.BoothKey, label: KeyedRows.Text?)] = []
    var objects: [(key: KeyedRows.BoothKey, booth: Booth)] = []
  }

  private let seed: UInt64
  private let store: TestStore
  private let manager: UndoManager?
  private var random: SplitMix
  private var rows = KeyedRows()
  private var next = 0

  init(seed: UInt64, _ store: TestStore, hasUndo: Bool) throws {
    (self.seed, self.store) = (seed, store)
    random = SplitMix(seed: seed)
    manager = hasUndo ? UndoManager() : nil
  }

  private var note: Comment { "seed \(seed), before object \(next)" }

  mutating func round() throws {
    let (context, other) = (store.context(), try store.reopened())
    context.undoManager = manager
    let mine = try change(context, changesStored: true)
    let others = try change(other, changesStored: false)
    try save(context, mine)
    try save(other, others)
  }

  private mutating func change(
    _ context: ModelContext, changesStored: Bool
  ) throws -> Unsaved {
    var unsaved = Unsaved()
    let texts = Array(Self.texts.shuffled(using: &random).prefix(2))
    if changesStored { try changeStored(context, texts, &unsaved) }
    var fairs = try context.all(Fair.self).sorted { $0.number < $1.number }
    var booths: [Booth] = []
    for _ in 0..<Int.random(in: 3...7, using: &random) {
      next += 1
      let text = texts.randomElement(using: &random) ?? nil
      if Int.random(in: 0..<3, using: &random) == 0 {
        let fair = Fair(name: text, number: next)
        context.insert(fair)
        fairs.append(fair)
        unsaved.fairs.append((KeyedRows.key(of: fair), next))
        continue
      }
      let booth = Booth(label: text, number: next)
      let fair = fairs.randomElement(using: &random)
      context.insert(booth)
      if Bool.random(using: &random) { booth.fair = fair } else { fair?.booths.append(booth) }
      if Bool.random(using: &random) { booth.neighbor = booths.randomElement(using: &random) }
      booths.append(booth)
    }
    unsaved.booths = booths.map { (KeyedRows.key(of: $0), KeyedRows.row(of: $0)) }
    unsaved.objects = booths.map { (KeyedRows.key(of: $0), $0) }
    return unsaved
  }

  /// Deletes one stored booth, and gives another one a key that is free then, which new ones may have, too.
  private mutating func changeStored(
    _ context: ModelContext, _ texts: [String?], _ unsaved: inout Unsaved
  ) throws {
    var booths = try context.all(Booth.self).sorted { $0.number < $1.number }
      .shuffled(using: &random)
    if Bool.random(using: &random), let booth = booths.popLast() {
      unsaved.deleted.append(KeyedRows.key(of: booth))
      context.delete(booth)
    }
    guard let booth = booths.popLast() else { return }
    let (old, label) = (KeyedRows.key(of: booth), booth.label)
    booth.label = texts.randomElement(using: &random) ?? nil
    let new = KeyedRows.key(of: booth)
    if new != old, booths.contains(where: { KeyedRows.key(of: $0) == new }) {
      booth.label = label
    } else {
      unsaved.renamed.append((old, new, booth.label.map { Array($0.utf8) }))
    }
  }

  private mutating func save(_ context: ModelContext, _ unsaved: Unsaved) throws {
    for key in unsaved.deleted { rows.remove(key) }
    for (old, new, label) in unsaved.renamed { rows.rename(old, to: new, label: label) }
    for (key, number) in unsaved.fairs { rows.fairs[key] = number }
    for (key, row) in unsaved.booths { rows.booths[key] = row }
    try context.save()
    try #expect(KeyedRows(context) == rows, note)
    try #expect(KeyedRows(store.context()) == rows, note)
    for (key, booth) in unsaved.objects {
      #expect(KeyedRows.row(of: booth) == rows.booths[key], note)
    }
    let identifiers = Dictionary(grouping: unsaved.objects) { $0.key }
    for objects in identifiers.values {
      #expect(Set(objects.map(\.booth.persistentModelID)).count == 1, note)
    }
    #expect(Set(unsaved.objects.map(\.booth.persistentModelID)).count == identifiers.count, note)
    #expect(try store.container.check().isSound, note)
  }
}
