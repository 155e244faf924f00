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
        #expect(duet.mine() == expected, title)
        try duet.expectSame(expected, title)
        // There and back again.
        if redoes { duet.manager.undo() } else { duet.manager.redo() }
        // An addition that was not saved came last when the others' arrived, with the undo at the latest.
        let isLast = edit == .append && !redoes && !saves
        let before = isLast ? [1, 2, 3] + added + [4] : (redoes ? [1, 2, 3] : edited) + added
        try duet.expectSame(merges ? held : before, title)
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
        try Concert(duet.context) == Concert(duet.store.context()), title)
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

  // MARK: What a save cuts

  enum Cascade: CaseIterable { case members, byOther, withOwner, withTags }

  /// Of the list only the first member was known to leave, so undo took the other ones for additions of others.
  @Test(arguments: Cascade.allCases)
  func `undo of a cascade that the save made brings all members back`(_ cascade: Cascade) throws {
    let store = try TestStore(.memory, Binder.self, Page.self, Bookcase.self, Mark.self)
    let (context, other) = (store.context(), store.context())
    let manager = UndoManager()
    let (binder, bookcase) = (Binder(), Bookcase())
    let (pages, marks) = ((0..<3).map { Page($0) }, (0..<2).map { Mark($0) })
    for model in [binder, bookcase] as [any PersistentModel] { context.insert(model) }
    binder.pages = pages
    pages[0].marks = marks
    pages[1].marks = marks
    try context.save()
    context.undoManager = manager
    context.delete(bookcase)
    context.processPendingChanges()
    switch cascade {
    case .members: (pages[0].bookcase, pages[1].bookcase) = (bookcase, bookcase)
    case .byOther:
      for page in pages.prefix(2) {
        try other.twin(of: page).bookcase = other.twin(of: bookcase)
      }
      try other.save()
    case .withOwner:
      (pages[0].bookcase, pages[1].bookcase, binder.bookcase) = (bookcase, bookcase, bookcase)
    case .withTags:
      (pages[0].bookcase, pages[1].bookcase, marks[1].bookcase) = (bookcase, bookcase, bookcase)
    }
    try context.save()
    #expect(try context.all(Page.self).map(\.number) == [2])
    if cascade != .withOwner { #expect(binder.pages.map(\.number) == [2]) }
    while manager.canUndo { manager.undo() }
    for _ in 0..<2 {
      #expect(try context.only(Binder.self) === binder)
      #expect(binder.pages.map(\.number) == [0, 1, 2])
      #expect(pages.allSatisfy { $0.binder === binder })
      for page in pages.prefix(2) { #expect(page.marks.map(\.number) == [0, 1]) }
      for mark in marks { #expect(mark.pages.map(\.number) == [0, 1]) }
      try context.save()
      #expect(!context.hasChanges)
    }
    let stored = try store.context().only(Binder.self)
    #expect(stored.pages.map(\.number) == [0, 1, 2])
    #expect(stored.pages.prefix(2).allSatisfy { $0.marks.count == 2 })
    while manager.canRedo { manager.redo() }
    try context.save()
    #expect(try store.context().all(Page.self).map(\.number) == [2])
  }

  // MARK: Random steps

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

/// Its pages, and their marks, do not know of its deletion, nor it of theirs.
@Model private final class Binder {
  @Relationship(inverse: \Page.binder) var pages: [Page] = []
  var bookcase: Bookcase?
  init() {}
}

@Model private final class Page {
  var number: Int
  @Relationship(deleteRule: .noAction) var binder: Binder?
  @Relationship(deleteRule: .noAction) var marks: [Mark] = []
  var bookcase: Bookcase?
  init(_ number: Int) { self.number = number }
}

@Model private final class Mark {
  var number: Int
  @Relationship(inverse: \Page.marks) var pages: [Page] = []
  var bookcase: Bookcase?
  init(_ number: Int) { self.number = number }
}

/// Takes all with it that stands on it: marks first, then pages.
@Model private final class Bookcase {
  @Relationship(deleteRule: .cascade, inverse: \Mark.bookcase) var marks: [Mark] = []
  @Relationship(deleteRule: .cascade, inverse: \Page.bookcase) var pages: [Page] = []
  @Relationship(deleteRule: .cascade, inverse: \Binder.bookcase) var binders: [Binder] = []
  init() {}
}
