import RecordsTestSupport
import SwiftData
import Testing

/// A choir with the singers 1, 2 and 3 of seven, two other choirs, a context with undo and another one.
struct Duet {
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

  func setMembers(_ numbers: [Int]) {
    Self.setMembers(of: choirs[0], link, numbers.map { singers[$0] })
  }

  func remove(_ number: Int) {
    Self.setMembers(of: choirs[0], link, members(of: choirs[0]).filter { $0.number != number })
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
    #expect(try Concert(context) == Concert(fresh), title)
  }
}

/// Random edits of lists in two contexts, one of which undoes and redoes.
struct ContestedUndoTrial {
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
    let fresh = try Concert(store.context())
    for (number, context) in contexts.enumerated() {
      // A clean context shows the store.
      _ = try context.all(Choir.self)
      if context.hasChanges { continue }
      let shown = try Concert(context)
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
