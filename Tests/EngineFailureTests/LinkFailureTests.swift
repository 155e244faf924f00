@Suite("Links that were lost") struct LinkFailureTests {
  /// `car.driver = nil; save` left `driver.car` in the store when the driver was never loaded.
  @Test func `a cleared one-to-one is cleared on the side that was not loaded`() throws {
    let store = try TestStore(Car.self, Driver.self)
    let writer = store.context()
    let (car, ann) = (Car(plate: "BE 1"), Driver(name: "Ann"))
    writer.insertAll(car, ann)
    car.driver = ann
    try writer.save()

    let context = store.context()
    try context.twin(of: car).driver = nil
    try context.save()
    let reader = try store.reopened()
    #expect(try reader.only(Car.self).driver == nil)
    #expect(try reader.only(Driver.self).car == nil)
  }

  /// Reassigning a one-to-one relationship whose old partners were never loaded left two owners.
  @Test(arguments: [true, false])
  func `a reassigned one-to-one has one owner`(fromCar: Bool) throws {
    let store = try TestStore(Car.self, Driver.self)
    let writer = store.context()
    let cars = [Car(plate: "BE 1"), Car(plate: "BE 2")]
    let drivers = [Driver(name: "Ann"), Driver(name: "Bob")]
    for (car, driver) in zip(cars, drivers) {
      writer.insertAll(car, driver)
      car.driver = driver
    }
    try writer.save()

    let context = store.context()
    let (car, bob) = (try context.twin(of: cars[0]), try context.twin(of: drivers[1]))
    if fromCar { car.driver = bob } else { bob.car = car }
    try context.save()
    let reader = try store.reopened()
    #expect(try reader.twin(of: cars[0]).driver?.name == "Bob")
    #expect(try reader.twin(of: cars[1]).driver == nil)
    #expect(try reader.twin(of: drivers[0]).car == nil)
    #expect(try reader.twin(of: drivers[1]).car?.plate == "BE 1")
  }

  /// Properties from the 64th on shared one change bit: a context that changed one of them wrote
  /// its old values of the others over another context's, and did not see these.
  @Test func `changes of many properties do not mix`() throws {
    let store = try TestStore(Wide.self)
    let a = store.context()
    let wide = Wide()
    a.insert(wide)
    try a.save()
    wide.p095 = 1

    let b = store.context()
    let twin = try b.twin(of: wide)
    (twin.p066, twin.p070, twin.p003) = (2, 3, 4)
    try b.save()
    a.processPendingChanges()
    #expect(wide.sample == [2, 3, 4, 1])
    try a.save()
    let stored = try store.reopened().only(Wide.self)
    #expect(stored.sample == [2, 3, 4, 1])
  }

  /// A pending new order was lost when another context saved any attribute of the owner.
  @Test func `a pending order survives another context's save`() throws {
    let store = try TestStore(Shop.self, Item.self, Tag.self)
    let context = store.context()
    let shop = Shop(name: "old")
    context.insert(shop)
    shop.items = ["a", "b", "c"].map { Item(name: $0) }
    try context.save()
    shop.items.swapAt(0, 2)

    let other = store.context()
    try other.twin(of: shop).name = "new"
    try other.save()
    context.processPendingChanges()
    #expect(shop.name == "new")
    #expect(shop.items.map(\.name) == ["c", "b", "a"])
    try context.save()
    #expect(shop.items.map(\.name) == ["c", "b", "a"])
    #expect(try store.reopened().only(Shop.self).items.map(\.name) == ["c", "b", "a"])
  }

  /// Pending changes of a many-to-many relationship vanished from the object's view when another
  /// context saved an attribute of it, and stayed wrong after the object's own save.
  @Test func `a pending many-to-many change survives another context's save`() throws {
    let store = try TestStore(Shop.self, Item.self, Tag.self)
    let context = store.context()
    let item = Item(name: "tea")
    let tags = ["hot", "green", "dear"].map { Tag(name: $0) }
    for tag in tags { context.insert(tag) }
    context.insert(item)
    item.tags = [tags[0], tags[1]]
    try context.save()
    item.tags.remove(at: 0)
    item.tags.append(tags[2])

    let other = store.context()
    try other.twin(of: item).price = 3
    try other.save()
    context.processPendingChanges()
    for _ in 0..<2 {
      #expect(item.price == 3)
      #expect(item.tags.map(\.name) == ["green", "dear"])
      #expect(tags.map { $0.items.count } == [0, 1, 1])
      try context.save()
    }
    let reader = try store.reopened()
    #expect(try reader.only(Item.self).tags.map(\.name) == ["green", "dear"])
    #expect(try reader.twin(of: tags[0]).items.isEmpty)
  }

  /// `b.items.append(i)` with an `i` of `a`, undone, left `i` in neither shop, and was saved so.
  @Test func `undoing an append gives the item back`() throws {
    let store = try TestStore(Shop.self, Item.self, Tag.self)
    let (context, undo) = (store.context(), UndoManager())
    let (a, b, item) = (Shop(name: "a"), Shop(name: "b"), Item(name: "i"))
    context.insertAll(a, b)
    a.items = [Item(name: "first"), item, Item(name: "last")]
    try context.save()
    context.undoManager = undo

    undo.beginUndoGrouping()
    b.items.append(item)
    undo.endUndoGrouping()
    #expect(a.items.map(\.name) == ["first", "last"])
    undo.undo()
    #expect(a.items.map(\.name) == ["first", "i", "last"])
    #expect(b.items.isEmpty)
    #expect(item.shop === a)
    try context.save()
    let reader = try store.reopened()
    #expect(try reader.twin(of: a).items.map(\.name) == ["first", "i", "last"])
    #expect(try reader.twin(of: b).items.isEmpty)
  }

  /// `i.shop = b`, undone, left the former shop's list without `i`.
  @Test func `undoing a reference gives the item back`() throws {
    let store = try TestStore(Shop.self, Item.self, Tag.self)
    let (context, undo) = (store.context(), UndoManager())
    let (a, b, item) = (Shop(name: "a"), Shop(name: "b"), Item(name: "i"))
    context.insertAll(a, b, item)
    item.shop = a
    try context.save()
    context.undoManager = undo

    undo.beginUndoGrouping()
    item.shop = b
    undo.endUndoGrouping()
    undo.undo()
    #expect(a.items.map(\.name) == ["i"])
    #expect(b.items.isEmpty)
    #expect(item.shop === a)
    undo.redo()
    #expect(a.items.isEmpty)
    #expect(b.items.map(\.name) == ["i"])
    undo.undo()
    try context.save()
    #expect(try store.reopened().twin(of: a).items.map(\.name) == ["i"])
  }

  /// Objects that were linked before any of them was inserted: `insert(child)` left out the parent
  /// that listed it, and `child.parent` was nil.
  @Test func `insert reaches what was linked by a setter from either side`() throws {
    let store = try TestStore(Parent.self, Child.self)
    let context = store.context()
    let (child, parent) = (Child(name: "c"), Parent(name: "p"))
    parent.children = [child]
    #expect(child.parent === parent)
    context.insert(child)
    try context.save()
    #expect(parent.modelContext === context)
    #expect(try store.reopened().only(Parent.self).children.map(\.name) == ["c"])
  }

  /// The same with values that an initializer assigns after all properties have one.
  @Test func `insert reaches what an initializer replaced`() throws {
    let store = try TestStore(Parent.self, Child.self)
    let context = store.context()
    let child = Child(name: "c")
    let parent = Parent(name: "p", children: [child])
    let other = Child(name: "o", parent: parent)
    #expect(child.parent === parent)
    #expect(parent.children.map(\.name) == ["c", "o"])
    context.insert(child)
    try context.save()
    #expect(parent.modelContext === context)
    #expect(other.modelContext === context)
    #expect(try store.reopened().only(Parent.self).children.map(\.name) == ["c", "o"])
  }

  /// The same with the first value of a list, which has no setter's call: the team listed the
  /// player, whose `team` was nil, and `insert(player)` left the team out.
  @Test func `insert reaches the list that an initializer gave`() throws {
    let store = try TestStore(Team.self, Player.self, Coach.self)
    let context = store.context()
    let player = Player(name: "p", coach: Coach(name: "c"))
    let team = Team(name: "t", players: [player])
    #expect(player.team === team)
    context.insert(player)
    try context.save()
    #expect(team.modelContext === context)
    #expect(player.team === team)
    #expect(try store.reopened().all(Team.self).map { $0.players.count } == [1])
  }

  /// The same with the first value of a reference: the coach did not list the player.
  @Test func `insert reaches the reference that an initializer gave`() throws {
    let store = try TestStore(Team.self, Player.self, Coach.self)
    let context = store.context()
    let coach = Coach(name: "c")
    let player = Player(name: "p", coach: coach)
    #expect(coach.players.map(\.name) == ["p"])
    context.insert(coach)
    try context.save()
    #expect(player.modelContext === context)
    #expect(try store.reopened().all(Player.self).map(\.name) == ["p"])
  }
}
