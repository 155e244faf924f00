@Suite("What undo does around saves") struct UndoFailureTests {
  // MARK: Groups

  /// The save cut the reference to the deleted object, and registered that outside all groups, which ended the program.
  @Test(arguments: [false, true])
  func `a save that cuts a reference ends no program`(deletesElsewhere: Bool) throws {
    let store = try TestStore(Playlist.self, Song.self)
    let (context, other) = (store.context(), store.context())
    let (list, song) = (Playlist(name: "p"), Song(title: "s"))
    context.insertAll(list, song)
    list.favorite = song
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    manager.beginUndoGrouping()
    list.name = "q"
    list.songs = [song]
    if !deletesElsewhere { context.delete(song) }
    manager.endUndoGrouping()
    if deletesElsewhere {
      other.delete(try other.twin(of: song))
      try other.save()
    }
    try context.save()
    #expect(list.favorite == nil && list.songs.isEmpty)
    #expect(manager.undoCount == 1)
    manager.undo()
    #expect(list.name == "p")
  }

  enum CutLink: CaseIterable { case denied, cascaded, nullified }
  enum Deleted: CaseIterable { case destination, owner, destinationThenOwner, ownerThenDestination }

  /// The rules that a save applies to what was linked to a deleted object were a step of their own: the next undo took
  /// back nothing that the program had done.
  @Test(arguments: CutLink.allCases, Deleted.allCases)
  func `what a save cuts itself is no step`(_ link: CutLink, _ deleted: Deleted) throws {
    for failsFirst in [false, true] {
      let store = try TestStore(Depot.self, Crate.self, Rack.self, Vessel.self)
      let context = store.context()
      let (owner, crate, peer) = (Depot(name: "o"), Crate(number: 1), Depot(name: "p"))
      context.insertAll(owner, crate, peer)
      try context.save()
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      var count = 0
      func step(_ change: () -> Void) {
        manager.beginUndoGrouping()
        change()
        manager.endUndoGrouping()
        count += 1
      }
      func deleteDestination() {
        if link == .nullified { context.delete(peer) } else { context.delete(crate) }
      }
      let isOwnerFirst = deleted == .owner || deleted == .ownerThenDestination
      step { if isOwnerFirst { context.delete(owner) } else { deleteDestination() } }
      step {
        switch link {
        case .denied: owner.debts.append(crate)
        case .cascaded: owner.crates.append(crate)
        case .nullified: owner.peers.append(peer)
        }
      }
      if deleted == .destinationThenOwner { step { context.delete(owner) } }
      if deleted == .ownerThenDestination { step(deleteDestination) }
      if failsFirst {
        manager.disableUndoRegistration()
        let rack = Rack(number: 1)
        context.insert(rack)
        manager.enableUndoRegistration()
        #expect(throws: SwiftDataError.self) { try context.save() }
        manager.disableUndoRegistration()
        context.delete(rack)
        manager.enableUndoRegistration()
        #expect(manager.undoCount == count)
      }
      do {
        try context.save()
      } catch let error as SwiftDataError where error.code == .deletionDenied {
        // The rule denies it: nothing was saved.
        #expect(link == .denied && deleted == .owner)
      }
      #expect(manager.undoCount == count, "\(failsFirst)")
      for _ in 0..<count { manager.undo() }
      #expect(!manager.canUndo)
      for round in 0..<2 {
        let all: [any PersistentModel] = [owner, crate, peer]
        #expect(all.allSatisfy { $0.modelContext === context && !$0.isDeleted })
        #expect(owner.debts.isEmpty && owner.crates.isEmpty && owner.peers.isEmpty)
        #expect(crate.debtor == nil && crate.depot == nil && peer.visitors.isEmpty)
        if round > 0 { break }
        for _ in 0..<count { manager.redo() }
        for _ in 0..<count { manager.undo() }
      }
      try context.save()
      #expect(try store.reopened().all(Depot.self).count == 2)
      #expect(try store.reopened().all(Crate.self).count == 1)
    }
  }

  /// A later undo of another step brought the crate back, without its depot.
  @Test func `what a save cuts while registration is off stays cut`() throws {
    let store = try TestStore(Depot.self, Crate.self)
    let context = store.context()
    let (owner, crate, peer) = (Depot(name: "o"), Crate(number: 1), Depot(name: "p"))
    context.insertAll(owner, crate, peer)
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    peer.name = "q"
    manager.disableUndoRegistration()
    context.delete(owner)
    owner.crates.append(crate)
    try context.save()
    manager.enableUndoRegistration()
    manager.undo()
    #expect(peer.name == "p" && crate.modelContext == nil)
    try context.save()
    #expect(try store.reopened().all(Crate.self).isEmpty)
  }

  /// The second undo of a step in between forgot the link that another context had made.
  @Test(arguments: 0..<3)
  func `a link that a save cut comes back with its object`(rounds: Int) throws {
    let store = try TestStore(Shop.self, Item.self, Tag.self)
    let (context, other) = (store.context(), store.context())
    let (shop, spare, item) = (Shop(name: "a"), Shop(name: "b"), Item(name: "i"))
    context.insertAll(shop, spare, item)
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    try other.twin(of: item).shop = other.twin(of: shop)
    try other.save()
    context.delete(shop)
    spare.name = "c"
    try context.save()
    manager.undo()
    for _ in 0..<rounds {
      manager.redo()
      manager.undo()
    }
    #expect(spare.name == "b")
    manager.undo()
    #expect(item.shop === shop)
    try context.save()
    #expect(try store.reopened().all(Item.self).first?.shop?.name == "a")
  }

  /// The list of the deleted object had what it had had before the step that was done again, and denied the deletion.
  @Test(arguments: [false, true])
  func `a step is done again on an object whose deletion was saved`(setsList: Bool) throws {
    let store = try TestStore(Depot.self, Crate.self)
    let context = store.context()
    let (owner, crate) = (Depot(name: "o"), Crate(number: 1))
    context.insertAll(owner, crate)
    crate.debtor = owner
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    context.delete(owner)
    if setsList { owner.debts = [] } else { crate.debtor = nil }
    try context.save()
    for _ in 0..<2 {
      manager.undo()
      manager.undo()
      #expect(owner.debts == [crate] && crate.debtor === owner && !owner.isDeleted)
      try context.save()
      manager.redo()
      manager.redo()
      #expect(owner.debts.isEmpty && crate.debtor == nil && owner.isDeleted)
      try context.save()
    }
    #expect(try store.reopened().all(Depot.self).isEmpty)
  }

  /// What the refused save had cleared was taken for older than the step before it, and was stored as nil.
  @Test func `a refused save costs no reference that undo restores`() throws {
    let store = try TestStore(Playlist.self, Song.self, Rack.self, Vessel.self)
    let context = store.context()
    let (first, second, list) = (Song(title: "1"), Song(title: "2"), Playlist(name: "p"))
    context.insertAll(first, second, list)
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    list.favorite = first
    context.delete(first)
    manager.disableUndoRegistration()
    let rack = Rack(number: 1)
    context.insert(rack)
    manager.enableUndoRegistration()
    #expect(throws: SwiftDataError.self) { try context.save() }
    manager.disableUndoRegistration()
    context.delete(rack)
    manager.enableUndoRegistration()
    list.favorite = second
    for _ in 0..<2 {
      manager.undo()
      manager.undo()
      #expect(list.favorite === first && manager.undoCount == 1)
      manager.redo()
      manager.redo()
      #expect(list.favorite === second)
    }
    manager.undo()
    manager.undo()
    try context.save()
    #expect(try store.reopened().all(Playlist.self).first?.favorite?.title == "1")
  }

  /// The way back over the save held them until the next one.
  @Test func `what no step leads back to isn't kept`() throws {
    let store = try TestStore(Depot.self, Crate.self)
    let context = store.context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    weak var kept: Crate?
    do {
      let (owner, crate) = (Depot(name: "o"), Crate(number: 1))
      kept = crate
      context.insertAll(owner, crate)
      try context.save()
      context.delete(owner)
      owner.crates.append(crate)
      try context.save()
      #expect(crate.modelContext == nil)
    }
    #expect(kept != nil)
    manager.removeAllActions()
    #expect(kept == nil)
  }

  private final class Tally {
    var value = 0
  }

  /// Groups were undone, searched and released one inside the other, and deep ones overflowed the stack.
  @Test(arguments: [1, 2, 50_000]) func `groups may be nested as deeply as one likes`(depth: Int) {
    let (manager, tally) = (UndoManager(), Tally())
    manager.groupsByEvent = false
    func add(_ change: Int) {
      tally.value += change
      manager.registerUndo(withTarget: tally) { _ in add(-change) }
    }
    for _ in 0..<2 {
      for level in 0..<depth {
        manager.beginUndoGrouping()
        if level < 3 { add(1) }
      }
      for _ in 0..<depth { manager.endUndoGrouping() }
    }
    let count = min(depth, 3)
    #expect(tally.value == 2 * count)
    manager.undo()
    #expect(tally.value == count)
    manager.redo()
    #expect(tally.value == 2 * count)
    manager.undo()
    manager.removeAllActions(withTarget: tally)
    #expect(!manager.canUndo && !manager.canRedo)
  }

  /// Each ended the program.
  @Test func `changes outside all groups are steps of their own`() throws {
    let store = try TestStore(Shop.self, Item.self, Tag.self)
    let context = store.context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    let shop = Shop(name: "a")
    context.insert(shop)
    shop.items = [Item(name: "1"), Item(name: "2")]
    shop.name = "b"
    try context.save()
    context.delete(shop)
    try context.save()
    #expect(manager.groupingLevel == 0 && manager.undoCount == 4)
    manager.undo()
    #expect(shop.items.map(\.name) == ["1", "2"] && shop.name == "b")
    manager.undo()
    #expect(shop.name == "a")
    manager.undo()
    #expect(shop.items.isEmpty)
    #expect(try context.all(Item.self).isEmpty)
    manager.undo()
    try context.save()
    #expect(try store.reopened().all(Shop.self).isEmpty)
  }

  // MARK: One-way references

  enum Owner: CaseIterable { case isLoaded, isNotLoaded, hasChanges, isNew }

  /// The references stayed empty, in objects and rows.
  @Test(arguments: Owner.allCases, [false, true])
  func `undoing a deletion restores what led to the object`(
    _ owner: Owner, groupsByEvent: Bool
  ) throws {
    let store = try TestStore(Playlist.self, Song.self)
    let writer = store.context()
    let songs = ["a", "b", "c"].map { Song(title: $0) }
    func fill(_ list: Playlist, _ songs: [Song]) {
      list.songs = songs
      list.favorite = songs[1]
    }
    for song in songs { writer.insert(song) }
    if owner != .isNew {
      let list = Playlist(name: "p")
      writer.insert(list)
      fill(list, songs)
    }
    try writer.save()

    let context = store.context()
    let all = try context.fetch(FetchDescriptor<Song>(sortBy: [SortDescriptor(\.title)]))
    var list = owner == .isNotLoaded || owner == .isNew ? nil : try context.only(Playlist.self)
    if owner == .isNew {
      let new = Playlist(name: "p")
      context.insert(new)
      fill(new, all)
      list = new
    }
    if owner == .hasChanges { list?.name = "q" }
    let manager = UndoManager()
    manager.groupsByEvent = groupsByEvent
    context.undoManager = manager
    context.delete(all[1])
    context.processPendingChanges()
    try context.save()
    #expect(manager.undoCount == 1)
    list = try context.only(Playlist.self)
    #expect(list?.favorite == nil && list?.songs.map(\.title) == ["a", "c"])
    for _ in 0..<2 {
      manager.undo()
      #expect(list?.favorite === all[1] && list?.songs.map(\.title) == ["a", "b", "c"])
      try context.save()
      let stored = try store.reopened().only(Playlist.self)
      #expect(stored.favorite?.title == "b" && stored.songs.map(\.title) == ["a", "b", "c"])
      manager.redo()
      try context.save()
      #expect(try store.reopened().only(Playlist.self).songs.map(\.title) == ["a", "c"])
    }
  }

  // MARK: Insertions that update

  /// The undo deleted the row, and its scans with it had the rule been `cascade`.
  @Test(arguments: [false, true])
  func `undoing an insertion that became an update restores the row`(isLoaded: Bool) throws {
    let store = try TestStore(Badge.self, Holder.self, Scan.self)
    let writer = store.context()
    let old = Badge(code: "k", label: "old", holder: Holder(name: "h"))
    writer.insert(old)
    old.scans = [Scan(place: "1"), Scan(place: "2")]
    try writer.save()

    let context = store.context()
    let held = isLoaded ? try context.only(Badge.self) : nil
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    let new = Badge(code: "k", label: "new")
    manager.beginUndoGrouping()
    context.insert(new)
    new.scans = [Scan(place: "3")]
    manager.endUndoGrouping()
    try context.save()
    func stored() throws -> [String] {
      let badge = try store.reopened().only(Badge.self)
      return [badge.label, badge.holder?.name ?? ""] + badge.scans.map(\.place).sorted()
    }
    #expect(try stored() == ["new", "", "1", "2", "3"])
    for _ in 0..<2 {
      manager.undo()
      let badge = try context.only(Badge.self)
      #expect(badge.label == "old" && badge.holder?.name == "h" && badge.scans.count == 2)
      #expect(badge === held ?? badge && badge !== new && new.modelContext == nil)
      try context.save()
      #expect(try stored() == ["old", "h", "1", "2"])
      manager.redo()
      #expect(new.persistentModelID == badge.persistentModelID && new.modelContext === context)
      try context.save()
      #expect(try stored() == ["new", "", "1", "2", "3"])
    }
  }

  /// A save that fails has overwritten nothing.
  @Test func `undoing an insertion whose update was refused removes the object`() throws {
    let store = try TestStore(Account.self)
    let writer = store.context()
    writer.insertAll(Account(email: "a", login: "a"), Account(email: "b", login: "b"))
    try writer.save()
    let context = store.context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    let (first, second) = (Account(email: "a", login: "x"), Account(email: "a", login: "b"))
    manager.beginUndoGrouping()
    context.insertAll(first, second)
    manager.endUndoGrouping()
    #expect(throws: SwiftDataError.self) { try context.save() }
    manager.undo()
    #expect(first.modelContext == nil && second.modelContext == nil)
    try context.save()
    #expect(try store.reopened().all(Account.self).map(\.login).sorted() == ["a", "b"])
  }

  // MARK: Random calls

  /// Undone to its beginning and redone to its end, a sequence gives what the store had after each of its saves.
  @Test(arguments: StorePlace.allCases)
  func `random steps are undone and redone whatever was saved`(_ place: StorePlace) async throws {
    for seed in 0..<UInt64(Effort.times(15, long: 600)) {
      try UndoTrial(place, seed: seed).run()
      await Task.yield()
    }
  }

  /// Calls of the manager in any order, with and without groups, within saves of one context and of two.
  @Test func `nothing an app does with its undo manager ends the program`() async throws {
    for seed in 0..<UInt64(Effort.times(15, long: 600)) {
      try MisuseTrial(seed: seed).run()
      await Task.yield()
    }
  }
}

/// Steps on lists, songs and badges, some of them on rows that a new object takes over.
private final class UndoTrial {
  private let seed: UInt64
  private let store: TestStore
  private let context: ModelContext
  private let manager = UndoManager()
  private var random: SplitMix
  private var nextTitle = 0
  /// What was seen before each step, and after the last one.
  private var states: [[String]] = []
  private var log: [String] = []

  init(_ place: StorePlace, seed: UInt64) throws {
    self.seed = seed
    random = SplitMix(seed: seed)
    store = try TestStore(
      place, Playlist.self, Song.self, Badge.self, Holder.self, Scan.self)
    let writer = store.context()
    let songs = (0..<3).map { Song(title: "s\($0)") }
    for song in songs { writer.insert(song) }
    for number in 0..<2 {
      let list = Playlist(name: "p\(number)")
      writer.insert(list)
      list.songs = Array(songs.prefix(2))
      list.favorite = songs[number]
    }
    for number in 0..<2 {
      let badge = Badge(code: "k\(number)", label: "old", holder: Holder(name: "h\(number)"))
      writer.insert(badge)
      badge.scans = [Scan(place: "scan\(number)")]
    }
    try writer.save()
    context = store.context()
    manager.groupsByEvent = false
    context.undoManager = manager
  }

  func run() throws {
    let first = try content(of: store.context())
    var count = 0
    for _ in 0..<6 {
      manager.beginUndoGrouping()
      try change()
      manager.endUndoGrouping()
      // What a save makes of new objects shows after it.
      try context.save()
      // A group without a change is no step.
      if manager.undoCount == count { continue }
      count += 1
      states.append(try content(of: store.reopened()))
    }
    for step in (0..<count).reversed() {
      manager.undo()
      if step == 0 || Bool.random(using: &random) {
        try context.save()
        try check(step == 0 ? first : states[step - 1], "undo of step \(step)")
      }
    }
    for step in 0..<count {
      manager.redo()
      if step == count - 1 || Bool.random(using: &random) {
        try context.save()
        try check(states[step], "redo of step \(step)")
      }
    }
  }

  private func check(_ expected: [String], _ step: String) throws {
    let stored = Set(try content(of: store.reopened())).symmetricDifference(expected).sorted()
    let shown = Set(try content(of: context)).symmetricDifference(expected).sorted()
    let place: Comment = "seed \(seed), \(step), after \(log)"
    #expect(stored == [], place)
    #expect(shown == [], place)
  }

  private func change() throws {
    let songs = try context.fetch(FetchDescriptor<Song>(sortBy: [SortDescriptor(\.title)]))
    // Often the lists are not loaded.
    let usesLists = Bool.random(using: &random)
    let lists =
      usesLists
      ? try context.fetch(FetchDescriptor<Playlist>(sortBy: [SortDescriptor(\.name)])) : []
    let (song, list) = (
      songs.randomElement(using: &random), lists.randomElement(using: &random)
    )
    nextTitle += 1
    let action = Int.random(in: 0..<7, using: &random)
    log.append("\(action) \(song?.title ?? "-") \(list?.name ?? "-")")
    switch action {
    case 0: if let song { context.delete(song) }
    case 1: context.insert(Song(title: "n\(nextTitle)"))
    case 2: list?.favorite = song
    case 3: if let song, list?.songs.contains(song) == false { list?.songs.append(song) }
    case 4:
      if let list {
        context.delete(list)
      } else if let song {
        song.title += "x"
      }
    case 5:
      let badge = Badge(code: "k\(Int.random(in: 0..<3, using: &random))", label: "n\(nextTitle)")
      context.insert(badge)
      if Bool.random(using: &random) { badge.scans = [Scan(place: "n\(nextTitle)")] }
    default:
      // Loaded, and perhaps taken over later.
      try context.all(Badge.self).sorted { $0.code < $1.code }.first?.label = "m\(nextTitle)"
    }
  }

  private func content(of context: ModelContext) throws -> [String] {
    let lists = try context.all(Playlist.self).map { list in
      "\(list.name) \(list.favorite?.title ?? "-") \(list.songs.map(\.title))"
    }
    let badges = try context.all(Badge.self).map { badge in
      "\(badge.code) \(badge.label) \(badge.holder?.name ?? "-") \(badge.scans.map(\.place).sorted())"
    }
    let others =
      try context.all(Song.self).map(\.title) + context.all(Scan.self).map(\.place)
      + context.all(Holder.self).map(\.name)
    return (lists + badges + others).sorted()
  }
}

/// Calls that no program should make, between changes and saves.
private final class MisuseTrial {
  private let store: TestStore
  private let contexts: [ModelContext]
  private let manager = UndoManager()
  private var random: SplitMix

  init(seed: UInt64) throws {
    random = SplitMix(seed: seed)
    store = try TestStore(.memory, Playlist.self, Song.self)
    contexts = [store.context(), store.context()]
    for context in contexts { context.undoManager = manager }
  }

  func run() throws {
    for _ in 0..<80 {
      switch Int.random(in: 0..<14, using: &random) {
      case 0: manager.beginUndoGrouping()
      case 1: manager.endUndoGrouping()
      case 2: manager.undo()
      case 3: manager.redo()
      case 4: manager.undoNestedGroup()
      case 5: manager.groupsByEvent.toggle()
      case 6:
        Bool.random(using: &random)
          ? manager.disableUndoRegistration() : manager.enableUndoRegistration()
      case 7: manager.registerUndo(withTarget: self) { $0.misuse() }
      case 8: if Int.random(in: 0..<8, using: &random) == 0 { manager.removeAllActions() }
      case 9: manager.levelsOfUndo = Int.random(in: 0..<4, using: &random)
      default: try change(contexts[Int.random(in: 0..<2, using: &random)])
      }
    }
    while !manager.isUndoRegistrationEnabled { manager.enableUndoRegistration() }
    for context in contexts {
      try context.save()
      #expect(!context.hasChanges)
    }
    let stored = try store.reopened()
    #expect(
      try stored.all(Song.self).map(\.title).sorted()
        == contexts[0].all(Song.self).map(\.title).sorted())
  }

  /// What an action must not do.
  private func misuse() {
    manager.undo()
    manager.endUndoGrouping()
    manager.redo()
    manager.registerUndo(withTarget: self) { $0.manager.beginUndoGrouping() }
  }

  private func change(_ context: ModelContext) throws {
    let (songs, lists) = (try context.all(Song.self), try context.all(Playlist.self))
    switch Int.random(in: 0..<6, using: &random) {
    case 0: context.insert(Song(title: "\(songs.count)"))
    case 1: context.insert(Playlist(name: "\(lists.count)"))
    case 2: songs.randomElement(using: &random).map { context.delete($0) }
    case 3:
      lists.randomElement(using: &random)?.favorite = songs.randomElement(using: &random)
    case 4: if let song = songs.first { lists.first?.songs = [song] }
    default: try context.save()
    }
  }
}
