import Foundation
import RecordsTestSupport
import SwiftData
import Testing

/// Undo gave a list the very members that it had before the step. What another context had committed to it since was
/// lost: links of a many-to-many relationship from the store, those of a one-to-many relationship from the context.
@Suite("Undo after other contexts' commits") struct ContestedUndoTests {
  enum Link: CaseIterable { case manyToMany, oneToMany }
  enum Edit: CaseIterable { case delete, assign, append, remove, insert, move }
  enum Addition: CaseIterable { case none, toList, toMember }

  @Test(arguments: Link.allCases, Edit.allCases)
  func `undo and redo keep what another context has added to the list`(
    _ link: Link, _ edit: Edit
  ) throws {
    for addition in Addition.allCases {
      // Bits: whether the step is redone, whether there was a save before, and a merge before.
      for bits in 0..<(addition == .none ? 4 : 8) {
        let (redoes, saves, merges) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)
        var duet = try Duet(link)
        try duet.edit(edit)
        duet.context.processPendingChanges()
        let edited = duet.mine()
        if redoes { duet.manager.undo() }
        if redoes { #expect(duet.mine() == [1, 2, 3]) }
        if saves { try duet.context.save() }
        let added = try duet.add(addition)
        if merges { try duet.merge() }
        let held = duet.mine()
        if redoes { duet.manager.redo() } else { duet.manager.undo() }
        let title: Comment = "\(link) \(edit) \(addition), \(redoes) \(saves) \(merges)"
        let expected = (redoes ? edited : [1, 2, 3]) + added
        if merges { #expect(duet.mine() == expected, title) }
        try duet.expectSame(expected, title)
        // There and back again.
        if redoes { duet.manager.undo() } else { duet.manager.redo() }
        try duet.expectSame(merges ? held : (redoes ? [1, 2, 3] : edited) + added, title)
      }
    }
  }

  enum Step: CaseIterable { case append, remove, takeFromOther, lead, leadInstead }

  /// The undo's own objects win: what its step took from a list or from a partner returns there, and leaves where
  /// another context has put it. What the step only gave to somebody stays where another context has put it.
  @Test(arguments: Step.allCases, [false, true])
  func `an object that another context has moved is in one place after undo`(
    _ step: Step, movesThere: Bool
  ) throws {
    for merges in [false, true] {
      let duet = try Duet(.oneToMany)
      let (choir, other, third) = (duet.choir(1), duet.choir(2), duet.choir(3))
      if step == .leadInstead { choir.leader = duet.singer(1) }
      if step == .takeFromOther { other.singers = [duet.singer(4)] }
      try duet.context.save()
      duet.manager.removeAllActions()
      let isReference = step == .lead || step == .leadInstead
      switch step {
      case .append, .takeFromOther: choir.singers.append(duet.singer(4))
      case .remove: choir.singers.removeFirst()
      case .lead, .leadInstead: choir.leader = duet.singer(4)
      }
      try duet.context.save()
      let number = step == .remove || step == .leadInstead ? 1 : 4
      let moved = try duet.other.twin(of: duet.singer(number))
      let goal = try duet.other.twin(of: third)
      if isReference, movesThere { goal.leader = moved }
      if isReference, !movesThere { moved.leads = goal }
      if !isReference, movesThere { goal.singers.append(moved) }
      if !isReference, !movesThere { moved.choir = goal }
      try duet.other.save()
      if merges { try duet.merge() }
      duet.manager.undo()
      try duet.context.save()
      let title: Comment = "\(step) \(movesThere) \(merges)"
      #expect(
        try Concert(duet.context, name: name) == Concert(duet.store.context(), name: name), title)
      guard merges else { continue }
      let singer = duet.singer(number)
      switch step {
      case .append: #expect(singer.choir === third, title)
      case .remove: #expect(singer.choir === choir && choir.singers.first === singer, title)
      case .takeFromOther: #expect(singer.choir === other && other.singers == [singer], title)
      case .lead: #expect(singer.leads === third && choir.leader == nil, title)
      case .leadInstead: #expect(singer.leads === choir && third.leader == nil, title)
      }
      if step == .remove || step == .leadInstead || step == .takeFromOther {
        #expect(third.singers.isEmpty && third.leader == nil, title)
      }
    }
  }

  /// Undo took it from the list that it had just come back to.
  @Test(arguments: [false, true], [false, true])
  func `what another context has put back is there once after undo`(
    bySinger: Bool, putBackBySinger: Bool
  ) throws {
    let duet = try Duet(.oneToMany)
    let (choir, singer) = (duet.choir(1), duet.singer(1))
    choir.leader = singer
    try duet.context.save()
    duet.manager.removeAllActions()
    if bySinger {
      (singer.choir, singer.leads) = (nil, nil)
    } else {
      choir.singers.removeFirst()
      choir.leader = nil
    }
    try duet.context.save()
    let (twin, goal) = (try duet.other.twin(of: singer), try duet.other.twin(of: choir))
    if putBackBySinger {
      (twin.choir, twin.leads) = (goal, goal)
    } else {
      goal.singers.append(twin)
      goal.leader = twin
    }
    try duet.other.save()
    try duet.merge()
    duet.manager.undo()
    #expect(choir.leader === singer && singer.leads === choir)
    #expect(singer.choir === choir)
    try duet.expectSame([1, 2, 3], "\(bySinger) \(putBackBySinger)")
  }

  /// With singers of their own, each context adds and removes only these, and the other one's stay as that committed
  /// them. Otherwise both change the same ones.
  @Test(arguments: [true, false])
  func `random undo between two contexts keeps the other one's links`(haveOwn: Bool) async throws {
    for seed in 0..<UInt64(Effort.times(25, long: 1000)) {
      var trial = try ContestedUndoTrial(seed: seed, haveOwn: haveOwn)
      do {
        try trial.run()
      } catch {
        Issue.record("seed \(seed), \(trial.log): \(error)")
      }
      await Task.yield()
    }
  }
}

private func name(_ model: any PersistentModel) -> String {
  (model as? Singer).map { "s\($0.number)" } ?? (model as? Choir).map { "c\($0.number)" } ?? "?"
}

/// A choir with the singers 1, 2 and 3 of seven, two other choirs, a context with undo and another one.
private struct Duet {
  let link: ContestedUndoTests.Link
  let store: TestStore
  let context: ModelContext
  let other: ModelContext
  let manager = UndoManager()
  private let choirs: [Choir]
  private let singers: [Singer]

  init(_ link: ContestedUndoTests.Link) throws {
    self.link = link
    store = try TestStore(.memory, Singer.self, Choir.self)
    (context, other) = (store.context(), store.context())
    let singers = (0..<7).map { Singer($0) }
    let choirs = (1...3).map { Choir($0) }
    for singer in singers { other.insert(singer) }
    for choir in choirs { other.insert(choir) }
    Self.setMembers(of: choirs[0], link, Array(singers[1...3]))
    try other.save()
    self.singers = try context.fetch(FetchDescriptor<Singer>(sortBy: [SortDescriptor(\.number)]))
    self.choirs = try context.fetch(FetchDescriptor<Choir>(sortBy: [SortDescriptor(\.number)]))
    context.undoManager = manager
  }

  func choir(_ number: Int) -> Choir { choirs[number - 1] }
  func singer(_ number: Int) -> Singer { singers[number] }

  /// The numbers of the first choir's members.
  func mine() -> [Int] { members(of: choirs[0]).map(\.number) }

  private func members(of choir: Choir) -> [Singer] {
    link == .manyToMany ? choir.honorary : choir.singers
  }

  private static func setMembers(
    of choir: Choir, _ link: ContestedUndoTests.Link, _ members: [Singer]
  ) {
    if link == .manyToMany { choir.honorary = members } else { choir.singers = members }
  }

  mutating func edit(_ edit: ContestedUndoTests.Edit) throws {
    let list = members(of: choirs[0])
    switch edit {
    case .delete: context.delete(singers[2])
    case .assign: Self.setMembers(of: choirs[0], link, [])
    case .append: Self.setMembers(of: choirs[0], link, list + [singers[4]])
    case .remove: Self.setMembers(of: choirs[0], link, [list[0], list[2]])
    case .insert: Self.setMembers(of: choirs[0], link, [singers[4]] + list)
    case .move: Self.setMembers(of: choirs[0], link, list.reversed())
    }
  }

  /// Has the other context add a member, and save; returns the member's number.
  func add(_ addition: ContestedUndoTests.Addition) throws -> [Int] {
    let choir = try other.twin(of: choirs[0])
    let singer = try other.twin(of: singers[0])
    switch addition {
    case .none: return []
    case .toMember where link == .manyToMany: singer.honours.append(choir)
    case .toMember: singer.choir = choir
    case .toList:
      // A new one, too.
      let new = Singer(9)
      Self.setMembers(of: choir, link, members(of: choir) + [singer, new])
      try other.save()
      return [singer.number, new.number]
    }
    try other.save()
    return [singer.number]
  }

  func merge() throws { _ = try context.all(Singer.self) }

  /// Saves, and expects these members in this context and in a new one, and the two to agree in everything.
  func expectSame(_ members: [Int], _ title: Comment) throws {
    try context.save()
    #expect(!context.hasChanges, title)
    #expect(mine() == members, title)
    let fresh = store.context()
    #expect(try self.members(of: fresh.twin(of: choirs[0])).map(\.number) == members, title)
    #expect(try Concert(context, name: name) == Concert(fresh, name: name), title)
  }
}

/// Random edits of lists in two contexts, one of which undoes and redoes.
private struct ContestedUndoTrial {
  private struct Failure: Error { let description: String }

  private let store: TestStore
  private let contexts: [ModelContext]
  private let manager = UndoManager()
  private let haveOwn: Bool
  private var random: SplitMix
  private var next = 8
  /// The links of singers with even numbers that the context without undo has made: choir by singer, and honours.
  private var choirs: [Int: Int] = [:]
  private var honours: [Int: Set<Int>] = [:]
  private(set) var log: [String] = []

  init(seed: UInt64, haveOwn: Bool) throws {
    (random, self.haveOwn) = (SplitMix(seed: seed), haveOwn)
    store = try TestStore(.memory, Singer.self, Choir.self)
    contexts = [store.context(), store.context()]
    for number in 0..<8 { contexts[0].insert(Singer(number)) }
    for number in 0..<2 { contexts[0].insert(Choir(number)) }
    try contexts[0].save()
    contexts[1].undoManager = manager
    _ = try contexts[1].all(Singer.self)
  }

  mutating func run() throws {
    for _ in 0..<40 {
      let place = Int.random(in: 0..<2, using: &random)
      let action = Int.random(in: 0..<14, using: &random)
      log.append("\(place):\(action)")
      switch action {
      case 0..<7: try edit(place, action)
      case 7, 8: manager.undo()
      case 9: manager.redo()
      case 10: _ = try contexts[place].all(Choir.self)
      default: try save(place)
      }
      if place == 1, action < 7, Bool.random(using: &random) { contexts[1].processPendingChanges() }
    }
    try save(0)
    try save(1)
    try save(0)
  }

  private mutating func edit(_ place: Int, _ action: Int) throws {
    let context = contexts[place]
    let all = try context.all(Singer.self).sorted { $0.number < $1.number }
    let own = haveOwn ? all.filter { $0.number % 2 == place } : all
    let choirs = try context.all(Choir.self).sorted { $0.number < $1.number }
    guard let singer = own.randomElement(using: &random),
      let choir = choirs.randomElement(using: &random)
    else { return }
    log[log.count - 1] += " s\(singer.number) c\(choir.number)"
    let others = Set(all).subtracting(own)
    // The own members in another order, some of them, and one more.
    func changed(_ list: [Singer]) -> [Singer] {
      var result = list.filter { others.contains($0) || Bool.random(using: &random) } + [singer]
      result.shuffle(using: &random)
      return result
    }
    switch action {
    case 0: if !choir.singers.contains(singer) { choir.singers.append(singer) }
    case 1: if !choir.honorary.contains(singer) { choir.honorary.append(singer) }
    case 2: singer.choir = Bool.random(using: &random) ? choir : nil
    case 3: singer.honours = Bool.random(using: &random) ? [choir] : []
    case 4: choir.singers = changed(choir.singers)
    case 5: choir.honorary = changed(choir.honorary)
    default:
      if place == 1, Bool.random(using: &random) { return context.delete(singer) }
      let new = Singer(next * 2 + place)
      next += 1
      context.insert(new)
      if Bool.random(using: &random) { choir.singers.append(new) } else { new.honours = [choir] }
    }
    if place == 0, haveOwn { try note() }
  }

  /// Notes the links of the singers that the other context leaves alone.
  private mutating func note() throws {
    (choirs, honours) = try links(contexts[0])
  }

  private func links(_ context: ModelContext) throws -> ([Int: Int], [Int: Set<Int>]) {
    var (choirs, honours): ([Int: Int], [Int: Set<Int>]) = ([:], [:])
    for singer in try context.all(Singer.self) where singer.number % 2 == 0 {
      choirs[singer.number] = singer.choir?.number
      honours[singer.number] = Set(singer.honours.map(\.number))
    }
    return (choirs, honours)
  }

  private func save(_ place: Int) throws {
    try contexts[place].save()
    contexts[place].processPendingChanges()
    let fresh = try Concert(store.context(), name: name)
    for (number, context) in contexts.enumerated() {
      // A clean context shows the store.
      _ = try context.all(Choir.self)
      if context.hasChanges { continue }
      let shown = try Concert(context, name: name)
      if shown != fresh {
        throw Failure(description: "context \(number) shows \(shown), the store has \(fresh)")
      }
    }
    guard haveOwn, !contexts[0].hasChanges else { return }
    let stored = try links(store.context())
    if stored.0 != choirs
      || stored.1.filter({ !$0.value.isEmpty }) != honours.filter({ !$0.value.isEmpty })
    {
      throw Failure(description: "committed \(choirs) \(honours), the store has \(stored)")
    }
  }
}
