@Suite("Upserts that went wrong") struct UpsertFailureTests {
  private func store() throws -> TestStore { try TestStore(Badge.self, Holder.self, Scan.self) }

  /// Of two new objects with one key, a change through the one that loses reached relationships
  /// that it should not.
  @Test func `a change through the loser changes that property alone`() throws {
    let store = try store()
    let context = store.context()
    let (ann, bob) = (Holder(name: "Ann"), Holder(name: "Bob"))
    context.insertAll(ann, bob)
    let loser = Badge(code: "a", label: "loser", holder: ann)
    let winner = Badge(code: "a", label: "winner", holder: bob)
    context.insertAll(loser, winner)
    loser.label = "still its own"
    #expect(winner.label == "winner")
    try context.save()
    #expect(loser.persistentModelID == winner.persistentModelID)
    #expect(ann.badges.isEmpty)

    loser.label = "by loser"
    loser.scans.append(Scan(place: "door"))
    #expect(winner.label == "by loser")
    #expect(winner.holder === bob)
    #expect(winner.scans.map(\.place) == ["door"])
    #expect(bob.badges.count == 1)
    loser.holder = ann
    #expect(winner.holder === ann)
    #expect(bob.badges.isEmpty)
    try context.save()
    let stored = try store.reopened().only(Badge.self)
    #expect(stored.label == "by loser")
    #expect(stored.holder?.name == "Ann")
    #expect(stored.scans.map(\.place) == ["door"])
  }

  /// `delete(loser)` left the row in the context's fetches until the save.
  @Test func `deleting the loser deletes the row at once`() throws {
    let store = try store()
    let context = store.context()
    let (loser, winner) = (Badge(code: "a", label: "1"), Badge(code: "a", label: "2"))
    context.insertAll(loser, winner)
    try context.save()
    context.delete(loser)
    #expect(winner.isDeleted)
    #expect(try context.all(Badge.self).isEmpty)
    try context.save()
    #expect(try store.reopened().all(Badge.self).isEmpty)
  }

  /// Before the save the two are two objects still, and `delete` takes the one.
  @Test func `deleting one of two unsaved duplicates leaves the other`() throws {
    let store = try store()
    let context = store.context()
    let (first, second) = (Badge(code: "a", label: "1"), Badge(code: "a", label: "2"))
    context.insertAll(first, second)
    context.delete(second)
    #expect(try context.only(Badge.self) === first)
    try context.save()
    #expect(try store.reopened().only(Badge.self).label == "1")
  }

  /// A pending change of the registered object won over a duplicate that was inserted later.
  @Test func `a duplicate wins over an earlier change of the registered object`() throws {
    let store = try store()
    let context = store.context()
    let badge = Badge(code: "a", label: "stored")
    context.insert(badge)
    try context.save()
    badge.label = "pending"
    context.insert(Badge(code: "a", label: "newest"))
    try context.save()
    #expect(badge.label == "newest")
    #expect(try store.reopened().only(Badge.self).label == "newest")
  }

  /// An object that matched two rows by two keys made save throw "The store refused a row".
  @Test func `an object that matches two rows is refused with both named`() throws {
    let store = try TestStore(Account.self)
    let context = store.context()
    context.insert(Account(email: "ann@example.org", login: "ann"))
    context.insert(Account(email: "bob@example.org", login: "bob"))
    try context.save()
    let both = Account(email: "ann@example.org", login: "bob")
    context.insert(both)
    let error = try refusal(of: context)
    #expect(error == .modelValidationFailure)
    for word in ["Account", "email", "login", "row 1", "row 2"] {
      #expect(error.message.contains(word))
    }
    #expect(!error.message.contains("example.org"))

    #expect(context.hasChanges)
    both.login = "ann"
    try context.save()
    #expect(try store.reopened().all(Account.self).count == 2)
  }

  /// The list of a new object, which is in an order of its own, was written over that of the row.
  @Test func `what the row had keeps its places`() throws {
    let store = try TestStore(Topic.self, Post.self)
    let context = store.context()
    let (first, second, third) = (Post(title: "1"), Post(title: "2"), Post(title: "3"))
    let topic = Topic(name: "a")
    context.insertAll(first, second, third, topic)
    second.topics = [topic]
    try context.save()
    let duplicate = Topic(name: "a")
    duplicate.posts = [third, second, first]
    try context.save()
    #expect(duplicate.persistentModelID == topic.persistentModelID)
    #expect(try store.reopened().only(Topic.self).posts.map(\.title) == ["2", "3", "1"])
    #expect(topic.posts.map(\.title) == ["2", "3", "1"])
  }
}
