/// Required references and least numbers of members without an inverse: no row may keep one to what is deleted, whether
/// that goes by itself, with its wharf, by a predicate over its superclass, in another context, or again after an undo.
@Suite("Random deletions of what is required") struct RequiredReferenceHistoryTests {
  @Test(arguments: 0..<4)
  func `a save leaves every required relationship with an object, or is refused`(
    seed: UInt64
  ) async throws {
    for round in 0..<UInt64(Effort.times(15)) {
      let seed = (Effort.seed &+ round) &* 4 &+ seed
      var trial = try CargoTrial(seed: seed, round % 8 == 7 ? .file : .memory)
      do {
        for _ in 0..<6 {
          guard let problem = try trial.round() else { continue }
          Issue.record("seed \(seed): \(problem)\n\(trial.log.joined(separator: "\n"))")
          return
        }
      } catch {
        Issue.record("seed \(seed): \(error)\n\(trial.log.joined(separator: "\n"))")
        return
      }
      await Task.yield()
    }
  }
}

private struct CargoTrial {
  private let store: TestStore
  private var random: SplitMix
  private var content = CargoContent()
  private var next = 100
  /// What was done, for who reads of a failure.
  private(set) var log: [String] = []

  init(seed: UInt64, _ place: StorePlace) throws {
    random = SplitMix(seed: seed)
    store = try TestStore(
      place, Wharf.self, Vessel.self, Keg.self, Shipment.self, RushShipment.self, Rack.self)
    let context = store.context()
    let wharves = [Wharf(number: 1), Wharf(number: 2)]
    for wharf in wharves { context.insert(wharf) }
    for number in 11...16 {
      let vessel = number.isMultiple(of: 2) ? Keg(number: number) : Vessel(number: number)
      context.insert(vessel)
      vessel.wharf = number < 13 ? nil : wharves[number % 2]
    }
    try context.save()
    content = try CargoContent(context)
  }

  // MARK: Rounds

  /// One context's changes, perhaps another's before they are saved, and perhaps their undo.
  ///
  /// - Returns: What is wrong; nil if nothing is.
  mutating func round() throws -> String? {
    let context = store.context()
    // Some objects are loaded, and stay so.
    let held: [any PersistentModel] =
      Bool.random(using: &random)
      ? try context.all(Shipment.self) as [any PersistentModel] + context.all(Vessel.self) : []
    if !held.isEmpty, Bool.random(using: &random) { _ = try CargoContent(context) }
    defer { withExtendedLifetime(held) {} }
    let manager = UndoManager()
    manager.groupsByEvent = false
    let isRecorded = Bool.random(using: &random)
    if isRecorded { context.undoManager = manager }
    manager.beginUndoGrouping()
    var changes = CargoChanges()
    for _ in 0..<Int.random(in: 1...4, using: &random) { try change(context, &changes) }
    manager.endUndoGrouping()
    let before = content
    if Int.random(in: 0..<3, using: &random) == 0 {
      if let problem = try actElsewhere(than: context) { return problem }
    }
    let isAlone = content == before
    let isSaved = try save(context, changes)
    if let problem = try compare(context) { return problem }
    guard isRecorded, isAlone, manager.canUndo else {
      if !isSaved { context.rollback() }
      return nil
    }
    return try undo(manager, context, before, isSaved)
  }

  private mutating func undo(
    _ manager: UndoManager, _ context: ModelContext, _ before: CargoContent, _ isSaved: Bool
  ) throws -> String? {
    let after = content
    log.append("undo, save")
    manager.undo()
    try context.save()
    content = before
    if let problem = try compare(context) { return problem }
    guard isSaved else { return nil }
    log.append("redo, save")
    manager.redo()
    try context.save()
    content = after
    return try compare(context)
  }

  /// - Returns: Whether the save was not refused.
  private mutating func save(_ context: ModelContext, _ changes: CargoChanges) throws -> Bool {
    let expected = changes.applied(to: content)
    log.append("save")
    do {
      try context.save()
    } catch SwiftDataError.modelValidationFailure where !expected.isValid {
      return false
    }
    content = expected
    return true
  }

  private func compare(_ context: ModelContext) throws -> String? {
    if !content.isValid { return "a save was not refused: \(content)" }
    let stored = try CargoContent(store.reopened())
    if stored != content { return "the store has \(stored)\nand not \(content)" }
    if !context.hasChanges {
      let shown = try CargoContent(context)
      if shown != content { return "the context has \(shown)\nand not \(content)" }
    }
    let check = try store.container.check()
    return check.isSound ? nil : "\(check)"
  }

  // MARK: Changes

  /// Another context saves, or somebody deletes by a predicate.
  private mutating func actElsewhere(than context: ModelContext) throws -> String? {
    if Bool.random(using: &random) {
      log.append("elsewhere:")
      let other = store.context()
      var changes = CargoChanges()
      for _ in 0..<2 { try change(other, &changes) }
      if try !save(other, changes) { other.rollback() }
    } else {
      try deleteByPredicate(in: store.context())
    }
    let stored = try CargoContent(store.context())
    return stored == content ? nil : "the store has \(stored)\nand not \(content)"
  }

  private mutating func deleteByPredicate(in context: ModelContext) throws {
    var changes = CargoChanges()
    let kind = Int.random(in: 0..<4, using: &random)
    let candidates = [
      Array(content.vessels.keys), Array(content.kegs), Array(content.wharves),
      Array(content.shipments.keys),
    ]
    guard let number = candidates[kind].sorted().randomElement(using: &random) else { return }
    log.append("delete by predicate \(number)")
    switch kind {
    case 0, 1: changes.deletedVessels = [number]
    case 2: changes.deletedWharves = [number]
    default: changes.deletedShipments = [number]
    }
    let expected = changes.applied(to: content)
    do {
      switch kind {
      case 0: try context.delete(model: Vessel.self, where: #Predicate { $0.number == number })
      case 1: try context.delete(model: Keg.self, where: #Predicate { $0.number == number })
      case 2: try context.delete(model: Wharf.self, where: #Predicate { $0.number == number })
      default: try context.delete(model: Shipment.self, where: #Predicate { $0.number == number })
      }
    } catch SwiftDataError.modelValidationFailure where !expected.isValid {
      return
    }
    content = expected
  }

  private func vessel(_ number: Int, _ context: ModelContext) throws -> Vessel {
    try context.only(where: #Predicate { $0.number == number })
  }

  private func shipment(_ number: Int, _ context: ModelContext) throws -> Shipment {
    try context.only(where: #Predicate { $0.number == number })
  }

  private func rack(_ number: Int, _ context: ModelContext) throws -> Rack {
    try context.only(where: #Predicate { $0.number == number })
  }

  private mutating func change(_ context: ModelContext, _ changes: inout CargoChanges) throws {
    // What the context shows. Relationships to what it has deleted stay until the save, which no step touches.
    let seen = changes.applied(to: content)
    let vessels = seen.vessels.keys.sorted()
    let kegs = seen.kegs.sorted()
    guard let number = vessels.randomElement(using: &random) else { return }
    let keg = kegs.randomElement(using: &random)
    switch Int.random(in: 0..<14, using: &random) {
    case 0, 1, 2:
      next += 1
      let isRush = Bool.random(using: &random) && keg != nil
      log.append("shipment \(next) of \(number)\(isRush ? " and \(keg ?? 0)" : "")")
      let vessel = try vessel(number, context)
      if isRush, let keg, let model = try self.vessel(keg, context) as? Keg {
        context.insert(RushShipment(number: next, vessel: vessel, keg: model))
        changes.newShipments[next] = .init(vessel: number, keg: keg)
      } else {
        context.insert(Shipment(number: next, vessel: vessel))
        changes.newShipments[next] = .init(vessel: number)
      }
    case 3, 4: try lead(number, keg, seen, context, &changes)
    case 5:
      guard let found = seen.shipments.keys.sorted().randomElement(using: &random) else { return }
      log.append("delete shipment \(found)")
      context.delete(try shipment(found, context))
      changes.deletedShipments.insert(found)
    case 6, 7: try changeRack(number, seen, context, &changes)
    case 8:
      guard let wharf = seen.wharves.sorted().randomElement(using: &random),
        seen.vessels[number] != wharf
      else { return }
      log.append("vessel \(number) to wharf \(wharf)")
      try vessel(number, context).wharf = context.only(where: #Predicate { $0.number == wharf })
      changes.wharfOf[number] = wharf
    case 9:
      guard let wharf = seen.wharves.sorted().randomElement(using: &random) else { return }
      log.append("delete wharf \(wharf)")
      context.delete(try context.only(Wharf.self, where: #Predicate { $0.number == wharf }))
      changes.deletedWharves.insert(wharf)
      changes.deletedVessels.formUnion(seen.vessels.filter { $0.value == wharf }.keys)
    default:
      log.append("delete vessel \(number)")
      context.delete(try vessel(number, context))
      changes.deletedVessels.insert(number)
    }
  }

  /// Leads a required reference elsewhere.
  private mutating func lead(
    _ vessel: Int, _ keg: Int?, _ seen: CargoContent, _ context: ModelContext,
    _ changes: inout CargoChanges
  ) throws {
    guard let found = seen.shipments.keys.sorted().randomElement(using: &random) else { return }
    let model = try shipment(found, context)
    // Setting what is there is no change.
    if let rush = model as? RushShipment, let keg, Bool.random(using: &random) {
      if seen.shipments[found]?.keg == keg { return }
      log.append("shipment \(found) with keg \(keg)")
      rush.keg = try #require(try self.vessel(keg, context) as? Keg)
      changes.kegOf[found] = keg
    } else {
      if seen.shipments[found]?.vessel == vessel { return }
      log.append("shipment \(found) in \(vessel)")
      model.vessel = try self.vessel(vessel, context)
      changes.vesselOf[found] = vessel
    }
  }

  private mutating func changeRack(
    _ vessel: Int, _ seen: CargoContent, _ context: ModelContext, _ changes: inout CargoChanges
  ) throws {
    let model = try self.vessel(vessel, context)
    guard let found = seen.racks.keys.sorted().randomElement(using: &random),
      Int.random(in: 0..<3, using: &random) > 0
    else {
      next += 1
      log.append("rack \(next) with \(vessel)")
      let rack = Rack(number: next)
      context.insert(rack)
      rack.vessels = [model]
      changes.newRacks[next] = [vessel]
      return
    }
    let rack = try rack(found, context)
    if Int.random(in: 0..<4, using: &random) == 0 {
      log.append("delete rack \(found)")
      context.delete(rack)
      changes.deletedRacks.insert(found)
    } else if rack.vessels.contains(where: { $0 === model }) {
      log.append("\(vessel) out of rack \(found)")
      rack.vessels.removeAll { $0 === model }
      changes.membership[found, default: [:]][vessel] = false
    } else {
      log.append("\(vessel) into rack \(found)")
      rack.vessels.append(model)
      changes.membership[found, default: [:]][vessel] = true
    }
  }
}
