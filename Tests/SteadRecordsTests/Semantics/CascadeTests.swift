import Foundation
import SwiftData
import Testing

@Suite("cascades") struct CascadeTests {
  private func owner(_ context: ModelContext) -> Owner {
    let ann = Owner(name: "Ann")
    ann.letters = [
      Letter(text: "a", stamp: Stamp(price: 1)), Letter(text: "b", stamp: Stamp(price: 2)),
    ]
    context.insert(ann)
    return ann
  }

  private func expectEmpty(_ context: ModelContext) throws {
    #expect(try context.count(Owner.self) == 0)
    #expect(try context.count(Letter.self) == 0)
    #expect(try context.count(Stamp.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 saved parent, saved children, over two steps`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = owner(context)
    try context.save()
    context.delete(ann)
    try expectEmpty(context)
    try context.save()
    try expectEmpty(try store.reopened())
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 unsaved parent and children`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = owner(context)
    context.delete(ann)
    try expectEmpty(context)
    try context.save()
    try expectEmpty(try store.reopened())
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 a child added after the parent was saved`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = owner(context)
    try context.save()
    ann.letters?.append(Letter(text: "c", stamp: Stamp(price: 3)))
    try context.save()
    let letter = Letter(text: "d")
    context.insert(letter)
    letter.owner = ann
    context.delete(ann)
    try context.save()
    try expectEmpty(try store.reopened())
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 the parent fetched by another context, children not loaded`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = owner(context)
    try context.save()
    let letters = ann.letters ?? []
    let other = store.context()
    other.delete(try other.only(Owner.self))
    try other.save()
    try expectEmpty(try store.reopened())
    try expectEmpty(context)
    #expect(letters.map(\.text) == ["a", "b"])
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 a child of another context's making`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = owner(context)
    try context.save()
    #expect(ann.letters?.count == 2)
    let other = store.context()
    let letter = Letter(text: "c", stamp: Stamp(price: 3))
    other.insert(letter)
    letter.owner = try other.only(Owner.self)
    try other.save()
    context.delete(ann)
    try context.save()
    try expectEmpty(try store.reopened())
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 a child that moved away stays`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = owner(context)
    let bob = Owner(name: "Bob")
    context.insert(bob)
    try context.save()
    let moved = try #require(ann.letters?.first)
    moved.owner = bob
    context.delete(ann)
    try context.save()
    let reader = try store.reopened()
    #expect(try reader.only(Letter.self).text == "a")
    #expect(try reader.only(Letter.self).owner?.name == "Bob")
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 deleting a child leaves the parent`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = owner(context)
    try context.save()
    context.delete(try #require(ann.letters?.first))
    try context.save()
    #expect(ann.letters?.map(\.text) == ["b"])
    #expect(try store.reopened().only(Owner.self).letters?.map(\.text) == ["b"])
    #expect(try store.reopened().only(Stamp.self).price == 2)
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 a tree of one class`(_ place: StorePlace) throws {
    let store = try TestStore.folders(place)
    let context = store.context()
    func folder(_ name: String, depth: Int) -> Folder {
      let children = depth == 0 ? [] : (0..<3).map { folder("\(name).\($0)", depth: depth - 1) }
      return Folder(name: name, children: children)
    }
    let root = folder("root", depth: 4)
    context.insert(root)
    context.insert(Folder(name: "other"))
    try context.save()
    #expect(try context.count(Folder.self) == 122)
    let reader = try store.reopened()
    let top = try reader.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name == "root" }))
    reader.delete(top[0])
    try reader.save()
    #expect(try store.reopened().only(Folder.self).name == "other")
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 a long chain does not exhaust the stack`(_ place: StorePlace) throws {
    let store = try TestStore.folders(place)
    let context = store.context()
    var root = Folder(name: "leaf")
    for level in 0..<3_000 { root = Folder(name: "\(level)", children: [root]) }
    context.insert(root)
    try context.save()
    context.delete(root)
    try context.save()
    #expect(try store.reopened().count(Folder.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 cascades that go in a circle end`(_ place: StorePlace) throws {
    let store = try TestStore(place, Chicken.self, Egg.self)
    let context = store.context()
    let (hen, chick) = (Chicken(name: "hen"), Chicken(name: "chick"))
    let egg = Egg()
    hen.eggs = [egg]
    egg.chick = chick
    let ancient = Egg()
    chick.eggs = [ancient]
    ancient.chick = hen
    context.insert(hen)
    try context.save()
    #expect(chick.origin === egg)
    context.delete(chick)
    try context.save()
    #expect(try store.reopened().count(Chicken.self) == 0)
    #expect(try store.reopened().count(Egg.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `R5 a cascade after rollback`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = owner(context)
    try context.save()
    context.delete(ann)
    context.processPendingChanges()
    context.rollback()
    #expect(ann.letters?.count == 2)
    context.delete(ann)
    try context.save()
    try expectEmpty(try store.reopened())
  }
}
