import Foundation
import Observation
import RecordsTestSupport
import SwiftData
import Testing

/// The changes of one relationship in one step are one change: undo takes back what they did as a whole.
@Suite("Undo of steps with several changes of a side") struct UndoneStepTests {
  typealias Link = ContestedUndoTests.Link

  enum Detour: CaseIterable { case choir, choirByList, leader, honorary, honours }

  /// Undo took back each change of its own: first to what the step had meanwhile, then what another context had made.
  @Test(arguments: Detour.allCases, [false, true])
  func `undo leaves a link alone that its step made and took back`(
    _ detour: Detour, redoes: Bool
  ) throws {
    let duet = try Duet(.manyToMany)
    let (first, second, third) = (duet.choir(1), duet.choir(2), duet.choir(3))
    let singer = duet.singer(4)
    switch detour {
    case .choir: (singer.choir, singer.choir) = (first, second)
    case .choirByList:
      first.singers.append(singer)
      second.singers.append(singer)
    case .leader: (first.leader, second.leader) = (singer, singer)
    case .honorary:
      third.honorary.append(singer)
      third.honorary.removeLast()
    case .honours:
      singer.honours.append(third)
      singer.honours = []
    }
    duet.context.processPendingChanges()
    if redoes {
      duet.manager.undo()
      duet.manager.redo()
    }
    try duet.context.save()
    let (twin, goal) = (try duet.other.twin(of: singer), try duet.other.twin(of: third))
    switch detour {
    case .choir, .choirByList: twin.choir = goal
    case .leader: twin.leads = goal
    case .honorary, .honours: twin.honours.append(goal)
    }
    try duet.other.save()
    try duet.merge()
    func isThere() -> Bool {
      switch detour {
      case .choir, .choirByList: singer.choir === third && third.singers == [singer]
      case .leader: singer.leads === third && third.leader === singer
      case .honorary, .honours: singer.honours == [third] && third.honorary == [singer]
      }
    }
    for _ in 0..<2 {
      duet.manager.undo()
      #expect(isThere())
      try duet.expectSame([1, 2, 3], "undo of \(detour)")
      #expect(first.singers.isEmpty && second.singers.isEmpty)
      #expect(first.leader == nil && second.leader == nil)
      // The step's own net change is made again where it still can be.
      duet.manager.redo()
      if detour == .honorary || detour == .honours { #expect(isThere()) }
      try duet.expectSame([1, 2, 3], "redo of \(detour)")
      if detour != .honorary, detour != .honours { break }
    }
  }

  /// What another context commits between two changes of a step is not the step's.
  @Test func `undo keeps what came in between two changes of its step`() throws {
    let duet = try Duet(.manyToMany)
    let (choir, singers) = (duet.choir(1), (0..<7).map(duet.singer))
    duet.manager.beginUndoGrouping()
    choir.honorary.append(singers[4])
    choir.singers.append(singers[4])
    let goal = try duet.other.twin(of: choir)
    for number in [5, 6] { goal.honorary.append(try duet.other.twin(of: singers[number])) }
    goal.singers.append(try duet.other.twin(of: singers[5]))
    try duet.other.save()
    try duet.merge()
    #expect(duet.mine().sorted() == [1, 2, 3, 4, 5, 6])
    choir.honorary.removeAll { $0 === singers[4] || $0 === singers[1] || $0 === singers[6] }
    choir.honorary.append(singers[0])
    choir.singers.append(singers[0])
    duet.manager.endUndoGrouping()
    try duet.context.save()
    for _ in 0..<2 {
      duet.manager.undo()
      #expect(Set(choir.singers) == [singers[5]])
      try duet.expectSame([1, 2, 3, 5, 6], "undo")
      duet.manager.redo()
      #expect(Set(choir.singers) == [singers[0], singers[4], singers[5]])
      try duet.expectSame([2, 3, 5, 0], "redo")
    }
  }

  /// Its list had it again after undo, and it led elsewhere.
  @Test(arguments: [false, true])
  func `undo puts what another context moved between two changes of its step in one place`(
    movesFirst: Bool
  ) throws {
    let duet = try Duet(.oneToMany)
    let (first, second, third) = (duet.choir(1), duet.choir(2), duet.choir(3))
    let singer = duet.singer(1)
    duet.manager.beginUndoGrouping()
    if movesFirst { singer.choir = second }
    third.singers.append(duet.singer(4))
    if !movesFirst { singer.choir = second }
    try duet.context.save()
    try duet.other.twin(of: singer).choir = duet.other.twin(of: third)
    try duet.other.save()
    try duet.merge()
    #expect(singer.choir === third)
    singer.choir = duet.singer(2).choir
    singer.choir = second
    duet.manager.endUndoGrouping()
    for _ in 0..<2 {
      duet.manager.undo()
      #expect(singer.choir === first && third.singers.isEmpty && second.singers.isEmpty)
      try duet.expectSame([1, 2, 3], "undo")
      duet.manager.redo()
      #expect(singer.choir === second && third.singers == [duet.singer(4)])
      try duet.expectSame([2, 3], "redo")
    }
  }

  /// The reference came back, and the list did not have its object.
  @Test(arguments: [false, true])
  func `undo leaves alone what its step took away and gave back`(byList: Bool) throws {
    let duet = try Duet(.oneToMany)
    let (choir, singer) = (duet.choir(1), duet.singer(3))
    duet.manager.beginUndoGrouping()
    if byList {
      choir.singers.removeLast()
      choir.singers.append(singer)
    } else {
      singer.choir = nil
      singer.choir = choir
    }
    duet.manager.endUndoGrouping()
    try duet.context.save()
    try duet.other.twin(of: singer).choir = nil
    try duet.other.save()
    try duet.merge()
    for _ in 0..<2 {
      duet.manager.undo()
      #expect(singer.choir == nil)
      try duet.expectSame([1, 2], "undo")
      duet.manager.redo()
      #expect(singer.choir == nil)
      try duet.expectSame([1, 2], "redo")
    }
  }

  @Test(arguments: [false, true])
  func `a step that deletes, inserts again and links again is undone and redone`(
    saves: Bool
  ) throws {
    let duet = try Duet(.oneToMany)
    let (choir, singer, manager) = (duet.choir(1), duet.singer(2), duet.manager)
    manager.beginUndoGrouping()
    duet.context.delete(choir)
    duet.context.insert(choir)
    choir.singers = [duet.singer(1), singer, duet.singer(3)]
    duet.context.delete(singer)
    duet.context.insert(singer)
    choir.singers.insert(singer, at: 1)
    manager.endUndoGrouping()
    for _ in 0..<3 {
      if saves { try duet.expectSame([1, 2, 3], "redone") }
      manager.undo()
      #expect(duet.mine() == [1, 2, 3] && singer.choir === choir)
      if saves { try duet.expectSame([1, 2, 3], "undone") }
      manager.redo()
      #expect(duet.mine() == [1, 2, 3] && singer.choir === choir)
    }
    try duet.expectSame([1, 2, 3], "at the end")
  }

  /// Groups within groups, what the program drops from the manager, and changes around insertions and deletions.
  @Test func `a step that changes a list in many ways is undone and redone`() throws {
    let duet = try Duet(.oneToMany)
    let (choir, manager, context) = (duet.choir(1), duet.manager, duet.context)
    // What was dropped is not undone with what follows in the same group.
    choir.singers.append(duet.singer(4))
    manager.removeAllActions()
    choir.singers.append(duet.singer(5))
    manager.undo()
    #expect(duet.mine() == [1, 2, 3, 4])
    choir.singers.removeLast()
    manager.removeAllActions()
    for saves in [false, true] {
      manager.beginUndoGrouping()
      choir.singers.append(duet.singer(4))
      manager.beginUndoGrouping()
      choir.singers.append(duet.singer(5))
      manager.endUndoGrouping()
      manager.undoNestedGroup()
      #expect(duet.mine() == [1, 2, 3, 4])
      let new = Singer(20)
      context.insert(new)
      choir.singers.insert(new, at: 0)
      context.delete(duet.singer(2))
      choir.singers.append(duet.singer(6))
      context.delete(choir)
      context.insert(choir)
      choir.singers = [duet.singer(6), new]
      manager.endUndoGrouping()
      for _ in 0..<2 {
        if saves { try duet.expectSame([6, 20], "redone") }
        manager.undo()
        #expect(duet.mine() == [1, 2, 3])
        if saves { try duet.expectSame([1, 2, 3], "undone") }
        manager.redo()
        #expect(duet.mine() == [6, 20])
      }
      manager.undo()
      try duet.expectSame([1, 2, 3], "at the end")
    }
  }

  /// The observer's change ended the one under way, which redo then took for none.
  @Test func `redo makes a change again during whose undo an observer made another one`() throws {
    let duet = try Duet(.manyToMany)
    // Observation wants a closure that may be sent, and calls it on this thread, within the undo below.
    nonisolated(unsafe) let (choir, other) = (duet.choir(1), duet.choir(2))
    nonisolated(unsafe) let singer = duet.singer(5)
    choir.honorary.append(duet.singer(4))
    duet.context.processPendingChanges()
    withObservationTracking {
      _ = choir.honorary
    } onChange: {
      other.leader = singer
    }
    duet.manager.undo()
    #expect(other.leader === singer)
    #expect(duet.mine() == [1, 2, 3])
    duet.manager.redo()
    #expect(duet.mine() == [1, 2, 3, 4])
  }

  // MARK: What comes in between

  enum Between: CaseIterable { case toList, ofMember, unrelated, unrecorded }

  /// One side of the link knew of two changes, which undo takes back one after the other, and the other side of one.
  @Test(arguments: [Link.oneToMany, .manyToMany], Between.allCases)
  func `undo takes a link from both its sides or from none`(_ link: Link, _ between: Between) throws
  {
    let duet = try Duet(link)
    let (context, other) = (duet.context, duet.other)
    let (choir, second, singer) = (duet.choir(1), duet.choir(2), duet.singer(5))
    duet.manager.beginUndoGrouping()
    duet.setMembers([1, 2, 3, 5])
    switch between {
    case .toList: _ = try duet.add(.toList)
    case .ofMember:
      if link == .manyToMany { try other.twin(of: singer).honours.append(other.twin(of: second)) }
      try other.twin(of: singer).leads = other.twin(of: second)
    case .unrelated: try other.twin(of: second).points = 3
    case .unrecorded:
      duet.manager.disableUndoRegistration()
      second.leader = duet.singer(6)
      duet.setMembers([1, 2, 3, 5, 4])
      duet.manager.enableUndoRegistration()
    }
    try other.save()
    try duet.merge()
    duet.remove(5)
    duet.manager.endUndoGrouping()
    try context.save()
    // The other context links what the step has unlinked again.
    let twin = try other.twin(of: choir)
    if link == .manyToMany {
      try twin.honorary.append(other.twin(of: singer))
    } else {
      try twin.singers.append(other.twin(of: singer))
    }
    try other.save()
    try duet.merge()
    for _ in 0..<2 {
      duet.manager.undo()
      try duet.expectSame(duet.mine(), "undo")
      duet.manager.redo()
      try duet.expectSame(duet.mine(), "redo")
    }
  }

  /// What undo had made of the sides of a missing object was there again once a later deletion of it was undone.
  @Test(arguments: [false, true])
  func `undo of a deletion knows nothing of an earlier one that the program took back`(
    ofOwner: Bool
  ) throws {
    let duet = try Duet(.manyToMany)
    let (choir, singer) = (duet.choir(1), duet.singer(2))
    duet.setMembers([])
    duet.context.processPendingChanges()
    try duet.context.save()
    let gone: any PersistentModel = ofOwner ? choir : singer
    if ofOwner {
      try duet.other.delete(duet.other.twin(of: choir))
    } else {
      try duet.other.delete(duet.other.twin(of: singer))
    }
    try duet.other.save()
    try duet.merge()
    duet.manager.undo()
    duet.context.insert(gone)
    duet.context.processPendingChanges()
    if ofOwner { duet.setMembers([5]) }
    try duet.context.save()
    duet.context.processPendingChanges()
    let held = duet.mine()
    duet.context.delete(gone)
    try duet.context.save()
    duet.manager.undo()
    if ofOwner { try duet.expectSame([5], "undone") } else { try duet.expectSame(held, "undone") }
  }

  /// The list waited for all but the first of them for good, and the context kept its objects with it.
  @Test func `redo of several insertions keeps nothing`() throws {
    let store = try TestStore(.memory, Singer.self, Choir.self)
    let context = store.context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    weak var singer: Singer?
    do {
      let choir = Choir(1)
      context.insert(choir)
      try context.save()
      manager.beginUndoGrouping()
      for number in 0..<5 { choir.reserves.append(Singer(number)) }
      manager.endUndoGrouping()
      singer = choir.reserves.last
      for _ in 0..<2 {
        manager.undo()
        #expect(choir.reserves.isEmpty)
        manager.redo()
        #expect(choir.reserves.map(\.number) == [0, 1, 2, 3, 4])
      }
      try context.save()
    }
    manager.removeAllActions()
    #expect(singer == nil)
  }
}
