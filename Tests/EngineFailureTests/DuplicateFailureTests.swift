/// Two new objects with one unique key are merged by a save. If that failed for something else, they stayed merged: an
/// app that then gave one of them another key, or removed it, had lost the values of the other.
@Suite("Duplicates of a save that fails") struct DuplicateFailureTests {
  private func store() throws -> TestStore {
    try TestStore(.memory, Seat.self, Guest.self, Party.self)
  }

  /// What a context has, in an order of its own.
  private func content(_ context: ModelContext) throws -> [String] {
    let seats = try context.all(Seat.self).map {
      "seat \($0.code) \($0.label) \($0.guest?.name ?? "-") \($0.party?.name ?? "-")"
    }
    let guests = try context.all(Guest.self).map { "guest \($0.name) \($0.seat?.label ?? "-")" }
    let parties = try context.all(Party.self).map {
      "party \($0.name) \($0.seats.map(\.label).sorted()) \($0.best?.label ?? "-")"
    }
    return seats.sorted() + guests.sorted() + parties.sorted()
  }

  /// Two parties of one name, which together have more seats than one may have.
  private func addPoison(_ context: ModelContext) -> (Party, Party) {
    let (one, other) = (Party(name: "poison"), Party(name: "poison"))
    context.insertAll(one, other)
    for number in 0..<5 {
      for (party, name) in [(one, "one"), (other, "other")] {
        let seat = Seat(code: "\(name) \(number)")
        seat.label = seat.code
        party.seats.append(seat)
      }
    }
    return (one, other)
  }

  @Test func `duplicates are two objects again, with their values and relationships`() throws {
    let store = try store()
    let context = store.context()
    let (ann, bob) = (Guest(name: "Ann"), Guest(name: "Bob"))
    let (first, second) = (Seat(code: "a"), Seat(code: "a"))
    let party = Party(name: "p")
    context.insertAll(ann, bob, first, second, party)
    (first.label, second.label) = ("first", "second")
    (first.guest, second.guest) = (ann, bob)
    party.seats = [first, second]
    party.best = second
    let (_, other) = addPoison(context)
    let before = try content(context)
    for _ in 0..<2 {
      #expect(try refusal(of: context) == .modelValidationFailure)
      #expect(try content(context) == before)
      #expect(first.persistentModelID != second.persistentModelID)
    }
    #expect(party.seats.elementsEqual([first, second], by: ===) && party.best === second)
    #expect(ann.seat === first && bob.seat === second)
    second.code = "b"
    other.name = "cured"
    try context.save()
    for reader in [context, store.context()] {
      #expect(
        try content(reader)
          == content(context), "What was saved is what the context has.")
      #expect(try reader.count(Seat.self) == 12 && reader.count(Party.self) == 3)
    }
    #expect(first.label == "first" && second.label == "second")
    #expect(try store.container.check().isSound)
  }

  @Test func `a duplicate that is deleted after the refused save leaves the other one`() throws {
    let store = try store()
    let context = store.context()
    let (first, second) = (Seat(code: "a"), Seat(code: "a"))
    (first.label, second.label) = ("first", "second")
    context.insertAll(first, second)
    let (_, other) = addPoison(context)
    #expect(try refusal(of: context) == .modelValidationFailure)
    context.delete(second)
    for seat in other.seats { context.delete(seat) }
    context.delete(other)
    try context.save()
    #expect(first.label == "first")
    #expect(try store.context().all(Seat.self).filter { $0.code == "a" }.map(\.label) == ["first"])
  }

  /// A program that saves once, and one whose first attempts are refused, have the same in the end.
  @Test(arguments: 0..<4)
  func `random duplicates are saved alike, whether a save was refused before or not`(
    seed: UInt64
  ) async throws {
    for round in 0..<UInt64(Effort.times(8)) {
      var results: [[String]] = []
      for isRefused in [false, true] {
        var random = SplitMix(seed: seed &* 1000 &+ round)
        let store = try store()
        let context = store.context()
        for part in 0..<3 {
          try change(context, part, &random)
          if isRefused, part != 1 {
            let (one, other) = addPoison(context)
            let before = try content(context)
            for _ in 0...round % 2 {
              #expect(try refusal(of: context) == .modelValidationFailure)
              #expect(try content(context) == before, "seed \(seed), round \(round)")
            }
            for party in [one, other] {
              for seat in party.seats { context.delete(seat) }
              context.delete(party)
            }
          }
          try context.save()
          #expect(try store.container.check().isSound)
        }
        let saved = try content(store.context())
        #expect(try content(context) == saved, "seed \(seed), round \(round)")
        results.append(saved)
      }
      #expect(results[0] == results[1], "seed \(seed), round \(round)")
      await Task.yield()
    }
  }

  /// New objects with few keys beside stored ones, linked from either side.
  private func change(_ context: ModelContext, _ part: Int, _ random: inout SplitMix) throws {
    func sorted<T: PersistentModel>(_ key: KeyPath<T, String> & Sendable) throws -> [T] {
      try context.fetch(FetchDescriptor<T>(sortBy: [SortDescriptor(key)]))
    }
    var guests: [Guest] = try sorted(\.name)
    var parties: [Party] = try sorted(\.name)
    var seats: [Seat] = try sorted(\.code)
    for number in 0..<Int.random(in: 2...6, using: &random) {
      let name = "\(part).\(number)"
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let guest = Guest(name: name)
        context.insert(guest)
        guests.append(guest)
      case 1:
        let party = Party(name: ["x", "y"].randomElement(using: &random) ?? "")
        context.insert(party)
        party.best = seats.randomElement(using: &random)
        parties.append(party)
      default:
        let seat = Seat(code: ["a", "b", "c"].randomElement(using: &random) ?? "")
        seat.label = name
        context.insert(seat)
        seats.append(seat)
      }
      guard let seat = seats.randomElement(using: &random) else { continue }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: seat.guest = guests.randomElement(using: &random)
      case 1: seat.party = parties.randomElement(using: &random)
      case 2: parties.randomElement(using: &random)?.seats.append(seat)
      default: guests.randomElement(using: &random)?.seat = seat
      }
    }
  }
}
