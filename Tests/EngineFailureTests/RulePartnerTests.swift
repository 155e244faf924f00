/// Has a hound by each rule that a deletion may follow.
@Model final class Handler {
  var name: String
  @Relationship(deleteRule: .deny, inverse: \Hound.denier) var denied: Hound?
  @Relationship(deleteRule: .noAction, inverse: \Hound.leaver) var left: Hound?
  @Relationship(deleteRule: .cascade, inverse: \Hound.taker) var taken: Hound?
  init(name: String) { self.name = name }
}

@Model final class Hound {
  var name: String
  var denier: Handler?
  var leaver: Handler?
  var taker: Handler?
  init(name: String) { self.name = name }
}

/// What another context moves was tested against deletions that nullify.
@Suite("Rules of deletion and partners that other contexts have moved") struct RulePartnerTests {
  enum Rule: CaseIterable {
    case deny, noAction, cascade

    var hound: ReferenceWritableKeyPath<Handler, Hound?> {
      switch self {
      case .deny: \.denied
      case .noAction: \.left
      case .cascade: \.taken
      }
    }

    var handler: ReferenceWritableKeyPath<Hound, Handler?> {
      switch self {
      case .deny: \.denier
      case .noAction: \.leaver
      case .cascade: \.taker
      }
    }
  }

  private typealias Move = (of: String, to: String?)

  /// Of objects with partners, of one without, and in a ring.
  private static let moves: [Move] = [
    ("m2", "h1"), ("h1", "m2"), ("m3", "h1"), ("h1", "m3"), ("m1", "h2"), ("h2", "m1"),
    ("m1", "h3"), ("h3", "m1"), ("m1", nil), ("h1", nil), ("m3", "h3"), ("h3", "m3"),
  ]
  private static let befores: [Move?] = [nil, ("h1", "m3"), ("m1", "h3"), ("h3", "m3")]

  /// One way in which two contexts meet.
  private struct Meeting {
    var rule: Rule
    var before: Move?
    var deleted: String
    var move: Move
    var isLoaded: Bool

    var note: Comment {
      "\(rule), before \(String(describing: before)), deletes \(deleted), other \(move), loaded \(isLoaded)"
    }
  }

  @Test(arguments: StorePlace.allCases, Rule.allCases)
  func `a deletion follows its rule, and leaves no side of a pair alone`(
    place: StorePlace, rule: Rule
  ) async throws {
    // A store on file takes ten times as long. No share is a divisor of the numbers of deletions and moves.
    let share = Effort.isLong ? 1 : place == .memory ? 13 : 97
    var number = 0
    for before in Self.befores {
      for deleted in ["m1", "h1", "m2", "h2", "m3", "h3"] {
        for move in Self.moves {
          for isLoaded in [false, true] {
            number += 1
            guard number % share == share / 2 else { continue }
            try meet(
              Meeting(
                rule: rule, before: before, deleted: deleted, move: move, isLoaded: isLoaded),
              TestStore(place, Handler.self, Hound.self))
            await Task.yield()
          }
        }
      }
    }
  }

  private func meet(_ meeting: Meeting, _ store: TestStore) throws {
    let (rule, note) = (meeting.rule, meeting.note)
    let writer = store.context()
    for number in 1...3 {
      let (handler, hound) = (Handler(name: "m\(number)"), Hound(name: "h\(number)"))
      writer.insertAll(handler, hound)
      if number < 3 { handler[keyPath: rule.hound] = hound }
    }
    try writer.save()
    let (context, other) = (store.context(), try store.reopened())
    if meeting.isLoaded { _ = try links(rule, context) }
    if let before = meeting.before { try change(before, rule, context) }
    let partner = try partner(of: meeting.deleted, rule, context)
    try delete(meeting.deleted, context)
    try change(meeting.move, rule, other)
    try other.save()
    let old = try links(rule, store.context())
    do {
      try context.save()
    } catch let error as SwiftDataError {
      // Only a handler denies its deletion.
      #expect(error == .deletionDenied && rule == .deny, note)
      #expect(meeting.deleted.hasPrefix("m"), note)
      #expect(!partner.isEmpty || old[meeting.deleted] != "", note)
      #expect(try links(rule, store.context()) == old, note)
      context.rollback()
      #expect(try links(rule, context) == old, note)
      return
    }
    let new = try links(rule, store.context())
    for (name, partner) in new where !partner.isEmpty { #expect(new[partner] == name, note) }
    var gone = Set(old.keys).subtracting(new.keys)
    #expect(gone.remove(meeting.deleted) != nil, note)
    if rule == .cascade, meeting.deleted.hasPrefix("m") {
      // What the other context has moved may stay, or go with the partner that it had.
      let partners = [partner, old[meeting.deleted] ?? ""].filter { !$0.isEmpty }
      #expect(gone.isSubset(of: partners), note)
      if !partner.isEmpty, old[partner] == meeting.deleted { #expect(gone == [partner], note) }
    } else {
      #expect(gone.isEmpty, note)
    }
    // What the other context has taken away denies nothing, and what it gave does.
    if rule == .deny, meeting.deleted.hasPrefix("m"), meeting.before == nil {
      #expect(old[meeting.deleted] == "", note)
    }
    #expect(try links(rule, context) == new, note)
    other.processPendingChanges()
    #expect(try links(rule, other) == new, note)
    // The rule that does nothing may leave what leads to no row.
    if rule != .noAction { #expect(try store.container.check().isSound, note) }
  }

  // MARK: Objects by their names

  private func handler(_ name: String, _ context: ModelContext) throws -> Handler {
    try context.only(where: #Predicate { $0.name == name })
  }

  private func hound(_ name: String, _ context: ModelContext) throws -> Hound {
    try context.only(where: #Predicate { $0.name == name })
  }

  private func change(_ move: Move, _ rule: Rule, _ context: ModelContext) throws {
    if move.of.hasPrefix("m") {
      try handler(move.of, context)[keyPath: rule.hound] = move.to.map { try hound($0, context) }
    } else {
      try hound(move.of, context)[keyPath: rule.handler] = move.to.map { try handler($0, context) }
    }
  }

  private func partner(of name: String, _ rule: Rule, _ context: ModelContext) throws -> String {
    name.hasPrefix("m")
      ? try handler(name, context)[keyPath: rule.hound]?.name ?? ""
      : try hound(name, context)[keyPath: rule.handler]?.name ?? ""
  }

  private func delete(_ name: String, _ context: ModelContext) throws {
    if name.hasPrefix("m") {
      context.delete(try handler(name, context))
    } else {
      context.delete(try hound(name, context))
    }
  }

  /// What the rows lead to, by their names.
  private func links(_ rule: Rule, _ context: ModelContext) throws -> [String: String] {
    var result: [String: String] = [:]
    for handler in try context.all(Handler.self) {
      result[handler.name] = handler[keyPath: rule.hound]?.name ?? ""
    }
    for hound in try context.all(Hound.self) {
      result[hound.name] = hound[keyPath: rule.handler]?.name ?? ""
    }
    return result
  }
}
