/// Both classes have unique keys, some of which have a to-one relationship.
@Model final class Pack {
  #Unique<Pack>([\.code], [\.shelf, \.parent])
  var number: Int
  var code: Int?
  var shelf: Int?
  var parent: Pack?
  @Relationship(inverse: \Pack.parent) var packs: [Pack] = []
  @Relationship(inverse: \Sheet.pack) var sheets: [Sheet] = []
  @Relationship(inverse: \Sheet.guides) var guided: [Sheet] = []
  @Relationship(inverse: \Sheet.coverOf) var cover: Sheet?

  init(number: Int) { self.number = number }
}

@Model class Sheet {
  #Unique<Sheet>([\.label, \.pack], [\.grade, \.coverOf])
  var number: Int
  var label: Int?
  var grade: Int?
  var pack: Pack?
  var coverOf: Pack?
  var guides: [Pack] = []

  init(number: Int) { self.number = number }
}

@Model final class GoldSheet: Sheet {
  override init(number: Int) { super.init(number: number) }
}

/// Has at least one ration, whose key it is part of.
@Model final class Quota {
  var number: Int
  @Attribute(.unique) var code: String?
  @Relationship(minimumModelCount: 1, inverse: \Ration.quota) var rations: [Ration] = []

  init(number: Int) { self.number = number }
}

@Model final class Ration {
  #Unique<Ration>([\.label, \.quota])
  var number: Int
  var label: Int?
  var quota: Quota?

  init(number: Int) { self.number = number }
}

/// A save takes the keys that it changes out of their rows first, so that objects can trade them. What it then read of a
/// row's former owner, if that was part of a key, was nothing.
@Suite("Owners that are part of unique keys") struct KeyedMemberTests {
  /// How the second context takes the sheet from the pack that the first one has given it to.
  enum Change: CaseIterable { case list, newList, reference, none, deletion }

  /// The former owner's list kept the sheet for good: the commit did not name the owner.
  @Test(arguments: Change.allCases, [false, true])
  func `a list loses a member that another context moved`(
    change: Change, hasOtherContainer: Bool
  ) throws {
    let store = try TestStore(Pack.self, Sheet.self, GoldSheet.self)
    let writer = ModelContext(
      hasOtherContainer ? try store.secondContainer() : store.container)
    let (sheet, old) = (GoldSheet(number: 0), Pack(number: 1))
    writer.insertAll(sheet, old)
    if change == .deletion { old.sheets = [sheet] }
    try writer.save()

    let reader = store.context()
    let pack = Pack(number: 2)
    reader.insert(pack)
    pack.sheets = try reader.all(Sheet.self)
    switch change {
    case .list: old.sheets = [sheet]
    case .newList:
      let new = Pack(number: 3)
      writer.insert(new)
      new.sheets = [sheet]
    case .reference: sheet.pack = old
    case .none:
      sheet.pack = old
      sheet.pack = nil
    case .deletion: writer.delete(old)
    }
    // Another object with a key, which could want the sheet's.
    writer.insert(Pack(number: 4))
    try reader.save()
    try writer.save()
    reader.processPendingChanges()
    // The deletion of the former owner concerns what it has by then.
    #expect(pack.sheets.isEmpty == (change != .deletion))
    let packs = try reader.all(Pack.self)
    #expect(try reader.only(Sheet.self).pack?.number == packs.first { !$0.sheets.isEmpty }?.number)
    #expect(try PackState(reader) == PackState(store.context()))
  }

  /// The history did not say either that the former owner's list has changed.
  @Test func `the history names the list that a member has left`() throws {
    let store = try TestStore(Pack.self, Sheet.self, GoldSheet.self)
    let (writer, other) = (store.context(), store.context())
    let (sheet, old, pack) = (Sheet(number: 0), Pack(number: 1), Pack(number: 2))
    writer.insertAll(sheet, old, pack)
    try writer.save()
    try other.twin(of: pack).sheets = [try other.twin(of: sheet)]
    old.sheets = [sheet]
    try other.save()
    try writer.save()
    let last = try writer.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last
    let lists = (last?.changes ?? []).compactMap { change -> Bool? in
      guard case .update(let update as DefaultHistoryUpdate<Pack>) = change,
        update.changedPersistentIdentifier == pack.persistentModelID
      else { return nil }
      return update.updatedAttributes.contains { $0 as PartialKeyPath<Pack> == \.sheets }
    }
    #expect(lists == [true])
  }

  /// The owner whose last member left was not counted, since its row's number was not found.
  @Test func `the last member does not leave an owner that is part of its key`() throws {
    let store = try TestStore(Quota.self, Ration.self)
    let context = store.context()
    for number in 1...2 {
      let quota = Quota(number: number)
      context.insert(quota)
      quota.rations = [Ration(number: number)]
    }
    try context.save()
    // Where the former owner is not loaded.
    let other = store.context()
    let ration = try other.only(Ration.self, where: #Predicate { $0.number == 1 })
    ration.quota = try other.only(Quota.self, where: #Predicate { $0.number == 2 })
    let error = try refusal(of: other)
    #expect(error == .modelValidationFailure && error.message.contains("Quota.rations"), "\(error)")
    #expect(try store.context().all(Quota.self).allSatisfy { $0.rations.count == 1 })
  }

  // Two containers have no store in memory in common.
  @Test(arguments: [(StorePlace.memory, false), (.file, false), (.file, true)])
  func `contexts that have merged show what is stored`(
    place: StorePlace, hasOtherContainer: Bool
  ) async throws {
    for round in 0..<UInt64(Effort.times(place == .memory ? 40 : 12)) {
      let seed = Effort.seed &* 1_000 &+ round
      let store = try TestStore(place, Pack.self, Sheet.self, GoldSheet.self)
      let other = hasOtherContainer ? try store.secondContainer() : store.container
      var trial = try PackTrial(seed: seed, [store.context(), ModelContext(other)])
      for _ in 0..<6 {
        guard let problem = try trial.round(store.context()) else { continue }
        Issue.record("seed \(seed): \(problem)\n\(trial.log.joined(separator: "\n"))")
        return
      }
      await Task.yield()
    }
  }
}

/// What a context shows, by numbers.
private struct PackState: Equatable {
  private var lines: [String] = []

  init(_ context: ModelContext) throws {
    for pack in try context.all(Pack.self).sorted(by: { $0.number < $1.number }) {
      lines.append(
        "pack \(pack.number): code \(pack.code ?? -1), in \(pack.parent?.number ?? -1), cover \(pack.cover?.number ?? -1), "
          + "packs \(pack.packs.map(\.number).sorted()), sheets \(pack.sheets.map(\.number).sorted()), "
          + "guided \(pack.guided.map(\.number).sorted())")
    }
    for sheet in try context.all(Sheet.self).sorted(by: { $0.number < $1.number }) {
      lines.append(
        "sheet \(sheet.number): in \(sheet.pack?.number ?? -1), cover of \(sheet.coverOf?.number ?? -1), "
          + "guides \(sheet.guides.map(\.number).sorted())")
    }
  }

  /// The lines that differ from those of what is stored.
  func difference(from stored: PackState) -> String {
    (lines.difference(from: stored.lines).map { "\($0)" }).joined(separator: "\n")
  }
}

/// Two contexts that change keys and links of the same objects, and save one after the other.
private struct PackTrial {
  private let contexts: [ModelContext]
  private var random: SplitMix
  private var next = 100
  /// An object that nobody holds reads its row again.
  private var held: [any PersistentModel] = []
  /// What was done, for who reads of a failure.
  private(set) var log: [String] = []

  init(seed: UInt64, _ contexts: [ModelContext]) throws {
    random = SplitMix(seed: seed)
    self.contexts = contexts
    for number in 1...4 {
      let isGold = number.isMultiple(of: 2)
      contexts[0].insert(isGold ? GoldSheet(number: number) : Sheet(number: number))
    }
    for number in 11...13 { contexts[0].insert(Pack(number: number)) }
    try contexts[0].save()
    for context in contexts { _ = try PackState(context) }
  }

  /// Some changes in both contexts, and their saves.
  ///
  /// - Returns: What is wrong; nil if nothing is.
  mutating func round(_ reader: ModelContext) throws -> String? {
    for place in contexts.indices {
      for _ in 0..<Int.random(in: 1...3, using: &random) { try change(place) }
    }
    let order = contexts.indices.shuffled(using: &random)
    log.append("saves \(order)")
    try contexts[order[0]].save()
    if Bool.random(using: &random) { contexts[order[1]].processPendingChanges() }
    try contexts[order[1]].save()
    contexts[order[0]].processPendingChanges()
    let stored = try PackState(reader)
    for (place, context) in contexts.enumerated() {
      let shown = try PackState(context)
      if shown != stored { return "context \(place)\n\(shown.difference(from: stored))" }
    }
    return nil
  }

  private mutating func change(_ place: Int) throws {
    let context = contexts[place]
    let packs = try context.all(Pack.self).sorted { $0.number < $1.number }
    let sheets = try context.all(Sheet.self).sorted { $0.number < $1.number }
    held += packs as [any PersistentModel] + sheets
    guard let pack = packs.randomElement(using: &random),
      let sheet = sheets.randomElement(using: &random)
    else { return }
    next += 1
    let key = Bool.random(using: &random) ? next : nil
    let some = sheets.filter { _ in Bool.random(using: &random) }
    let kind = Int.random(in: 0..<11, using: &random)
    log.append("context \(place): \(kind), pack \(pack.number), sheet \(sheet.number)")
    switch kind {
    case 0: sheet.pack = key == nil ? nil : pack
    case 1, 2: pack.sheets = some
    case 3: pack.guided = some
    case 4: pack.cover = sheet
    case 5: pack.code = key
    case 6: sheet.label = key
    case 7: sheet.grade = key
    case 8: if packs[0] !== pack { pack.parent = key == nil ? nil : packs[0] }
    case 9:
      let new = Pack(number: next)
      held.append(new)
      context.insert(new)
      new.sheets = [sheet]
    default: if packs.count > 2 { context.delete(pack) }
    }
  }
}
