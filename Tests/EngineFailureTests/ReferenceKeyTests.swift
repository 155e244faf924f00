import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

@Model final class KeyShop {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \KeyItem.shop) var items: [KeyItem] = []

  init(_ name: String) { self.name = name }
}

@Model final class KeyItem {
  #Unique<KeyItem>([\.shop, \.number])
  var shop: KeyShop?
  var number: Int
  var value: Int
  @Relationship(inverse: \KeyPrice.item) var prices: [KeyPrice] = []

  init(_ number: Int, _ value: Int) { (self.number, self.value) = (number, value) }
}

@Model final class KeyPrice {
  #Unique<KeyPrice>([\.country, \.item])
  var country: String
  var item: KeyItem?
  var amount: Int

  init(_ country: String, _ amount: Int) { (self.country, self.amount) = (country, amount) }
}

/// Keys with a to-one relationship to an object that has a key itself. Where an object was inserted before the one that
/// its key leads to, the save looked for its row before that one had a number: it was refused by the unique index, or an
/// earlier object's values were stored in place of a later one's.
@Suite("Unique keys with relationships") struct ReferenceKeyTests {
  private func store() throws -> TestStore {
    try TestStore(KeyShop.self, KeyItem.self, KeyPrice.self)
  }

  @Test(arguments: [false, true], [false, true])
  func `the same data can be saved twice`(isItemFirst: Bool, isListed: Bool) throws {
    let store = try store()
    for value in 1...3 {
      let context = store.context()
      let (shop, item) = (KeyShop("a"), KeyItem(7, value))
      if isItemFirst { context.insert(item) } else { context.insert(shop) }
      if isListed { shop.items.append(item) } else { item.shop = shop }
      context.insert(item)
      try context.save()
      #expect(try store.reopened().all(KeyItem.self).map(\.value) == [value])
      #expect(shop.items.map(\.value) == [value])
    }
    #expect(try store.container.check().isSound)
  }

  // The edit made the later new object one with the stored one, and the earlier one overwrote the row after that.
  @Test(arguments: [(false, false), (false, true), (true, false), (true, true)], [false, true])
  func `of new objects and an edited one the last has its values stored`(
    areEqual: (Bool, Bool), isEdited: Bool
  ) throws {
    let store = try store()
    let context = store.context()
    let (shop, item) = (KeyShop("a"), KeyItem(7, 0))
    context.insert(item)
    item.shop = shop
    try context.save()
    if isEdited { item.value = 9 }
    for (value, isEqual) in [(1, areEqual.0), (2, areEqual.1)] {
      let new = KeyItem(7, value)
      new.shop = isEqual ? KeyShop("a") : shop
      context.insert(new)
    }
    try context.save()
    #expect(try context.all(KeyItem.self).map(\.value) == [2])
    #expect(try store.reopened().all(KeyItem.self).map(\.value) == [2])
    #expect(try store.context().all(KeyItem.self).first?.shop?.name == "a")
  }

  /// One save's keys lead from object to object.
  @Test func `a chain of keys as long as a save is saved`() throws {
    let store = try TestStore(KeyLink.self)
    for round in 1...2 {
      let context = store.context()
      var last: KeyLink?
      for number in 0..<3000 {
        let link = KeyLink(number == 0 ? 0 : nil, round)
        context.insert(link)
        // The one that the key leads to is inserted after it.
        last?.next = link
        last = link
      }
      last?.start = 1
      try context.save()
    }
    // Those in the middle have no key of their own but the object that they lead to.
    let links = try store.reopened().all(KeyLink.self)
    #expect(links.count == 3000 && links.allSatisfy { $0.round == 2 })
  }

  /// Each of two objects has the other in its key, and one has another key.
  @Test(arguments: [false, true], [false, true])
  func `keys that refer to each other are found`(isHolderFirst: Bool, isReversed: Bool) throws {
    let store = try TestStore(KeyHolder.self, KeyPass.self)
    for value in 1...3 {
      let context = store.context()
      let (holder, pass) = (KeyHolder("a"), KeyPass(value))
      if isHolderFirst { context.insertAll(holder, pass) } else { context.insertAll(pass, holder) }
      if isReversed { pass.holder = holder } else { holder.pass = pass }
      try context.save()
      let found = try store.reopened().only(KeyHolder.self)
      #expect(found.pass?.value == value)
      #expect(try store.reopened().count(KeyPass.self) == 1)
    }
    #expect(try store.container.check().isSound)
  }

  // A changed object that waited for a new one claimed none of its keys before a new object was given a row.
  @Test func `a changed object claims the keys that wait for nothing first`() throws {
    let store = try TestStore(KeyLink.self)
    let context = store.context()
    let (first, second) = (KeyLink(10, 0), KeyLink(20, 0))
    context.insertAll(first, second)
    try context.save()
    // The second waits for a new object with the number that the first gets.
    let (new, equal) = (KeyLink(30, 1), KeyLink(1, 2))
    context.insertAll(new, equal)
    second.next = equal
    first.start = 1
    first.next = new
    try context.save()
    let links = try store.reopened().all(KeyLink.self)
    #expect(links.count == 3)
    #expect(links.first { $0.start == 20 }?.next?.start == 1)
    #expect(links.first { $0.start == 1 }?.round == 2)
    #expect(try store.container.check().isSound)
  }

  // The new one got a row before the changed one could claim the key that both have, and the save was refused.
  @Test(arguments: [false, true], [false, true])
  func `a changed object's key with a new object in it is claimed before others`(
    isShopFirst: Bool, isShopStored: Bool
  ) throws {
    let store = try store()
    let context = store.context()
    let (stored, changed) = (KeyShop("a"), KeyItem(1, 10))
    context.insert(changed)
    if isShopStored { context.insert(stored) }
    try context.save()
    let (shop, new) = (KeyShop("a"), KeyItem(1, 20))
    new.shop = isShopStored ? stored : shop
    if isShopFirst { context.insertAll(shop, new) } else { context.insertAll(new, shop) }
    changed.shop = shop
    try context.save()
    let items = try store.reopened().all(KeyItem.self)
    #expect(items.map(\.value) == [20] && items.first?.shop?.name == "a")
    #expect(try store.context().count(KeyShop.self) == 1)
    #expect(try store.container.check().isSound)
  }

  /// A key that one object has at once, and another one when the object in it has a row.
  @Test(arguments: [false, true])
  func `objects are one whichever of their keys is known first`(isShopStored: Bool) throws {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    for order in orders {
      let store = try TestStore(.memory, KeyShop.self, KeyTicket.self)
      let context = store.context()
      let shop = KeyShop("a")
      context.insert(KeyTicket("n", nil, nil))
      if isShopStored { context.insert(shop) }
      try context.save()
      let equal = isShopStored ? KeyShop("a") : shop
      let (early, late) = (KeyTicket(nil, 1, shop), KeyTicket("n", 1, equal))
      let new: [any PersistentModel] = [early, late, equal]
      for index in order {
        func insert(_ model: some PersistentModel) { context.insert(model) }
        insert(new[index])
      }
      try context.save()
      #expect(try store.context().count(KeyTicket.self) == 1, "\(order)")
      #expect(try store.context().count(KeyShop.self) == 1, "\(order)")
      #expect(try store.container.check().isSound)
    }
  }

  // MARK: At random

  /// What is stored, by keys: `a`, `a/1` and `a/1/CH`.
  private struct Content: Equatable {
    var shops: Set<String> = []
    var items: [String: Int] = [:]
    var prices: [String: Int] = [:]

    init() {}

    init(_ context: ModelContext) throws {
      let (shops, items) = (try context.all(KeyShop.self), try context.all(KeyItem.self))
      let prices = try context.all(KeyPrice.self)
      self.shops = Set(shops.map(\.name))
      for item in items { self.items[Self.key(item)] = item.value }
      for price in prices {
        self.prices["\(price.item.map(Self.key) ?? "-")/\(price.country)"] = price.amount
      }
      #expect(self.shops.count == shops.count)
      #expect(self.items.count == items.count)
      #expect(self.prices.count == prices.count)
      for shop in shops { #expect(shop.items.allSatisfy { $0.shop === shop }) }
      #expect(shops.map(\.items.count).reduce(0, +) == items.count)
      #expect(items.map(\.prices.count).reduce(0, +) == prices.count)
    }

    static func key(_ item: KeyItem) -> String { "\(item.shop?.name ?? "-")/\(item.number)" }
  }

  /// Edits of stored objects, and then new ones with few keys, whose references lead to stored objects, to new ones, or
  /// to new ones with the key of either; inserted before or after what their keys lead to.
  private func change(
    _ context: ModelContext, _ content: inout Content, _ random: inout SplitMix
  ) throws {
    for item in try context.all(KeyItem.self) where Int.random(in: 0..<3, using: &random) == 0 {
      item.value = Int.random(in: 0..<1_000_000, using: &random)
      content.items[Content.key(item)] = item.value
    }
    var shops = try context.all(KeyShop.self)
    var items = try context.all(KeyItem.self)
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let name = ["a", "b"].randomElement(using: &random) ?? ""
      let found = shops.filter { $0.name == name }.randomElement(using: &random)
      let shop = found.flatMap { Bool.random(using: &random) ? $0 : nil } ?? KeyShop(name)
      let known = items.filter { $0.shop?.name == name }.randomElement(using: &random)
      let price = KeyPrice(
        ["CH", "AT"].randomElement(using: &random) ?? "",
        Int.random(in: 0..<1_000_000, using: &random))
      let isPriceFirst = Bool.random(using: &random)
      let hasPrice = Bool.random(using: &random)
      if hasPrice, isPriceFirst { context.insert(price) }
      let item: KeyItem
      if let known, Int.random(in: 0..<3, using: &random) == 0 {
        item = known
      } else {
        item = KeyItem(
          Int.random(in: 0..<2, using: &random), Int.random(in: 0..<1_000_000, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: context.insert(shop)
        case 1: context.insert(item)
        case 2:
          context.insert(shop)
          shop.items.append(item)
        default: break
        }
        item.shop = shop
        context.insert(item)
        content.shops.insert(name)
        content.items[Content.key(item)] = item.value
        shops.append(shop)
        items.append(item)
      }
      if hasPrice {
        price.item = item
        context.insert(price)
        content.prices["\(Content.key(item))/\(price.country)"] = price.amount
      }
    }
  }

  @Test(arguments: 0..<8)
  func `random new objects are stored by their keys`(seed: UInt64) async throws {
    for round in 0..<UInt64(Effort.times(30)) {
      var random = SplitMix(seed: seed &* 1000 &+ round)
      let store = try TestStore(.memory, KeyShop.self, KeyItem.self, KeyPrice.self)
      var content = Content()
      var context = store.context()
      if seed % 2 == 1 { context.undoManager = UndoManager() }
      for _ in 0..<4 {
        try change(context, &content, &random)
        try context.save()
        #expect(try Content(context) == content, "seed \(seed), round \(round)")
        #expect(try Content(store.context()) == content, "seed \(seed), round \(round)")
        if Bool.random(using: &random) { context = store.context() }
      }
      #expect(try store.container.check().isSound)
      await Task.yield()
    }
  }
}

@Model final class KeyTicket {
  #Unique<KeyTicket>([\.name], [\.shop, \.code])
  var name: String?
  var code: Int?
  var shop: KeyShop?

  init(_ name: String?, _ code: Int?, _ shop: KeyShop?) {
    (self.name, self.code, self.shop) = (name, code, shop)
  }
}

@Model final class KeyHolder {
  #Unique<KeyHolder>([\.name], [\.pass])
  var name: String
  @Relationship(inverse: \KeyPass.holder) var pass: KeyPass?

  init(_ name: String) { self.name = name }
}

@Model final class KeyPass {
  #Unique<KeyPass>([\.holder])
  var holder: KeyHolder?
  var value: Int

  init(_ value: Int) { self.value = value }
}

/// An object whose key is another one of its class, and of the last one a number.
@Model final class KeyLink {
  #Unique<KeyLink>([\.start], [\.next])
  var start: Int?
  var next: KeyLink?
  var round: Int

  init(_ start: Int?, _ round: Int) { (self.start, self.round) = (start, round) }
}
