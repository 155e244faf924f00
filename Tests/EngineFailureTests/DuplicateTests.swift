/// Several new objects with one unique key.
@Suite("Duplicates") struct DuplicateTests {
  private func store() throws -> TestStore {
    try TestStore(.memory, Seat.self, Guest.self, Party.self)
  }

  /// Of two new seats with one key, each with a guest, the store had the one guest lead to the row, and the row lead to
  /// the other. Later changes of the seat that lost showed in no list.
  @Test func `of two new objects with one key both sides of a relationship are the later one's`()
    throws
  {
    let store = try store()
    let context = store.context()
    let (ann, bob) = (Guest(name: "Ann"), Guest(name: "Bob"))
    let (first, second) = (Seat(code: "a"), Seat(code: "a"))
    context.insertAll(ann, bob, first, second)
    first.guest = ann
    second.guest = bob
    let (old, new) = (Party(name: "old"), Party(name: "new"))
    context.insertAll(old, new)
    old.seats = [first]
    new.seats = [second]
    new.best = second
    try context.save()

    for reader in [context, store.context()] {
      let seat = try reader.only(Seat.self)
      #expect(seat.guest?.name == "Bob")
      let guests = try reader.fetch(FetchDescriptor<Guest>(sortBy: [SortDescriptor(\.name)]))
      #expect(guests.map { $0.seat?.code } == [nil, "a"])
      let parties = try reader.fetch(FetchDescriptor<Party>(sortBy: [SortDescriptor(\.name)]))
      #expect(parties.map(\.seats.count) == [1, 0])
      #expect(parties[0].best === seat)
    }
    #expect(first.persistentModelID == second.persistentModelID)
    #expect(bob.seat === first)
    #expect(try store.container.check().isSound)

    second.guest = ann
    second.party = old
    #expect(first.guest === ann && ann.seat === first && bob.seat == nil)
    #expect(old.seats.map(\.code) == ["a"] && new.seats.isEmpty)
    try context.save()
    let reader = store.context()
    #expect(try reader.only(Seat.self).guest?.name == "Ann")
    #expect(try reader.only(Seat.self).party?.name == "old")
  }

  /// A save that is refused for something else leaves the two as they were.
  @Test func `duplicates stay two when the save is refused for other keys`() throws {
    let store = try store()
    let context = store.context()
    let (one, two) = (Seat(code: "1"), Seat(code: "2"))
    context.insertAll(one, two)
    try context.save()
    let (first, second) = (Seat(code: "a"), Seat(code: "a"))
    context.insertAll(first, second)
    (first.label, second.label) = ("first", "second")
    one.code = "2"
    #expect(try refusal(of: context) == .modelValidationFailure)
    #expect(first.label == "first" && second.label == "second")
    second.code = "b"
    one.code = "1"
    try context.save()
    #expect(try store.context().count(Seat.self) == 4)
  }

  /// An object that a rollback takes out stands for itself again.
  @Test func `a rollback after a refused save leaves no object that stands for another`() throws {
    let store = try store()
    let context = store.context()
    let (first, second) = (Seat(code: "a"), Seat(code: "a"))
    context.insertAll(first, second)
    (first.label, second.label) = ("first", "second")
    // Each has an allowed number of seats, but the one that they become has too many.
    let (one, other) = (Party(name: "p"), Party(name: "p"))
    context.insertAll(one, other)
    for number in 0..<5 {
      one.seats.append(Seat(code: "x\(number)"))
      other.seats.append(Seat(code: "y\(number)"))
    }
    #expect(try refusal(of: context) == .modelValidationFailure)
    #expect(context.hasChanges)
    context.rollback()
    #expect(!context.hasChanges)
    first.label = "free"
    #expect(first.label == "free" && second.label != "free")
    #expect(first.modelContext == nil && second.modelContext == nil)
    context.insert(first)
    try context.save()
    #expect(try store.context().only(Seat.self).label == "free")
  }

  /// Seats with few keys and guests, one of which each has; the reference is what the last seat of a key was given.
  @Test(arguments: 0..<4)
  func `random duplicates leave one row for each key, with both sides alike`(
    seed: UInt64
  ) async throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<Effort.times(25) {
      let store = try store()
      let context = store.context()
      let guests = (0..<4).map { Guest(name: "g\($0)") }
      let parties = (0..<2).map { Party(name: "p\($0)") }
      for guest in guests { context.insert(guest) }
      for party in parties { context.insert(party) }
      var all: [String: [Seat]] = [:]
      for round in 0..<3 {
        var last: [String: (label: String, party: String?)] = [:]
        for place in 0..<Int.random(in: 2...5, using: &random) {
          let code = ["a", "b", "c"].randomElement(using: &random) ?? ""
          let seat = Seat(code: code)
          seat.label = "\(round).\(place)"
          if Bool.random(using: &random) { context.insert(seat) }
          let party = Bool.random(using: &random) ? parties.randomElement(using: &random) : nil
          if Bool.random(using: &random) {
            seat.party = party
          } else {
            party?.seats.append(seat)
          }
          if Bool.random(using: &random) { seat.guest = guests.randomElement(using: &random) }
          context.insert(seat)
          last[code] = (seat.label, party?.name)
          all[code, default: []].append(seat)
        }
        try context.save()
        try check(store, context, last, all, seed)
      }
      await Task.yield()
    }
  }

  private func check(
    _ store: TestStore, _ context: ModelContext,
    _ last: [String: (label: String, party: String?)], _ all: [String: [Seat]], _ seed: UInt64
  ) throws {
    let note = Comment(rawValue: "seed \(seed)")
    #expect(try store.container.check().isSound, note)
    for reader in [context, store.context()] {
      let seats = try reader.all(Seat.self)
      #expect(Set(seats.map(\.code)) == Set(all.keys) && seats.count == all.count, note)
      for seat in seats {
        if let given = last[seat.code] {
          #expect(seat.label == given.label && seat.party?.name == given.party, note)
        }
        #expect(seat.guest == nil || seat.guest?.seat === seat, note)
        #expect(seat.party == nil || seat.party?.seats.filter { $0 === seat }.count == 1, note)
      }
      for guest in try reader.all(Guest.self) {
        #expect(guest.seat == nil || guest.seat?.guest === guest, note)
      }
      for party in try reader.all(Party.self) {
        #expect(party.seats.allSatisfy { $0.party === party }, note)
      }
    }
    for (code, seats) in all {
      #expect(Set(seats.map(\.persistentModelID)).count == 1, note)
      #expect(Set(seats.map(\.label)).count == 1, note)
      #expect(seats.allSatisfy { $0.code == code }, note)
    }
  }
}
