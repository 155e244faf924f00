import Foundation
import SwiftData

/// Calls whose type depends on the class of their objects.
extension Subject {
  static func make(_ kind: Kind, _ number: Int, _ score: Int) -> any Numbered {
    type(of: kind).init(number: number, score: score)
  }

  static func type(of kind: Kind) -> any Numbered.Type {
    switch kind {
    case .person: Person.self
    case .item: Item.self
    case .card: Card.self
    case .tag: Tag.self
    case .place: Place.self
    case .wide: Wide.self
    case .yard: Yard.self
    case .plant: Plant.self
    }
  }

  static func kind(of object: any Numbered) -> Kind {
    switch object {
    case is Person: .person
    case is Item: .item
    case is Card: .card
    case is Tag: .tag
    case is Place: .place
    case is Yard: .yard
    case is Plant: .plant
    default: .wide
    }
  }

  func insert(_ object: any Numbered, _ context: Int) {
    func insert<Model: Numbered>(_ model: Model) { contexts[context].insert(model) }
    insert(object)
  }

  func delete(_ object: any Numbered, _ context: Int) {
    func delete<Model: Numbered>(_ model: Model) { contexts[context].delete(model) }
    delete(object)
  }

  func deleteAll(_ kind: Kind, _ minimum: Int, _ context: ModelContext) throws {
    switch kind {
    case .person:
      try context.delete(model: Person.self, where: #Predicate { $0.score >= minimum })
    case .item: try context.delete(model: Item.self, where: #Predicate { $0.score >= minimum })
    case .card: try context.delete(model: Card.self, where: #Predicate { $0.score >= minimum })
    case .tag: try context.delete(model: Tag.self, where: #Predicate { $0.score >= minimum })
    case .place: try context.delete(model: Place.self, where: #Predicate { $0.score >= minimum })
    case .wide: try context.delete(model: Wide.self, where: #Predicate { $0.score >= minimum })
    case .yard: try context.delete(model: Yard.self, where: #Predicate { $0.score >= minimum })
    case .plant: try context.delete(model: Plant.self, where: #Predicate { $0.score >= minimum })
    }
  }

  /// The numbers of the objects that a fetch finds.
  func fetch(_ kind: Kind, _ query: Call.Query, _ context: ModelContext) throws -> [Int] {
    switch kind {
    case .person: try context.fetch(persons(query)).map(\.number)
    case .item: try context.fetch(items(query)).map(\.number)
    case .card: try context.fetch(cards(query)).map(\.number)
    case .tag: try context.fetch(tags(query)).map(\.number)
    case .place: try context.fetch(places(query)).map(\.number)
    case .wide: try context.fetch(wides(query)).map(\.number)
    case .yard: try context.fetch(yards(query)).map(\.number)
    case .plant: try context.fetch(plants(query)).map(\.number)
    }
  }

  func count(_ kind: Kind, _ query: Call.Query, _ context: ModelContext) throws -> Int {
    switch kind {
    case .person: try context.fetchCount(persons(query))
    case .item: try context.fetchCount(items(query))
    case .card: try context.fetchCount(cards(query))
    case .tag: try context.fetchCount(tags(query))
    case .place: try context.fetchCount(places(query))
    case .wide: try context.fetchCount(wides(query))
    case .yard: try context.fetchCount(yards(query))
    case .plant: try context.fetchCount(plants(query))
    }
  }

  /// All objects of a class, by number.
  func all(_ kind: Kind, _ context: ModelContext) throws -> [any Numbered] {
    func all<Model: Numbered>(_ type: Model.Type) throws -> [any Numbered] {
      try context.fetch(FetchDescriptor<Model>())
    }
    return try all(Self.type(of: kind))
  }

  private func persons(_ query: Call.Query) -> FetchDescriptor<Person> {
    let order: SortOrder = query.isDescending ? .reverse : .forward
    var descriptor = FetchDescriptor<Person>(
      sortBy: [SortDescriptor(\.score, order: order), SortDescriptor(\.number)])
    if let minimum = query.minimum { descriptor.predicate = #Predicate { $0.score >= minimum } }
    descriptor.includePendingChanges = query.seesPending
    return descriptor
  }

  private func items(_ query: Call.Query) -> FetchDescriptor<Item> {
    let order: SortOrder = query.isDescending ? .reverse : .forward
    var descriptor = FetchDescriptor<Item>(
      sortBy: [SortDescriptor(\.score, order: order), SortDescriptor(\.number)])
    if let minimum = query.minimum { descriptor.predicate = #Predicate { $0.score >= minimum } }
    descriptor.includePendingChanges = query.seesPending
    return descriptor
  }

  private func cards(_ query: Call.Query) -> FetchDescriptor<Card> {
    let order: SortOrder = query.isDescending ? .reverse : .forward
    var descriptor = FetchDescriptor<Card>(
      sortBy: [SortDescriptor(\.score, order: order), SortDescriptor(\.number)])
    if let minimum = query.minimum { descriptor.predicate = #Predicate { $0.score >= minimum } }
    descriptor.includePendingChanges = query.seesPending
    return descriptor
  }

  private func tags(_ query: Call.Query) -> FetchDescriptor<Tag> {
    let order: SortOrder = query.isDescending ? .reverse : .forward
    var descriptor = FetchDescriptor<Tag>(
      sortBy: [SortDescriptor(\.score, order: order), SortDescriptor(\.number)])
    if let minimum = query.minimum { descriptor.predicate = #Predicate { $0.score >= minimum } }
    descriptor.includePendingChanges = query.seesPending
    return descriptor
  }

  private func places(_ query: Call.Query) -> FetchDescriptor<Place> {
    let order: SortOrder = query.isDescending ? .reverse : .forward
    var descriptor = FetchDescriptor<Place>(
      sortBy: [SortDescriptor(\.score, order: order), SortDescriptor(\.number)])
    if let minimum = query.minimum { descriptor.predicate = #Predicate { $0.score >= minimum } }
    descriptor.includePendingChanges = query.seesPending
    return descriptor
  }

  private func wides(_ query: Call.Query) -> FetchDescriptor<Wide> {
    let order: SortOrder = query.isDescending ? .reverse : .forward
    var descriptor = FetchDescriptor<Wide>(
      sortBy: [SortDescriptor(\.score, order: order), SortDescriptor(\.number)])
    if let minimum = query.minimum { descriptor.predicate = #Predicate { $0.score >= minimum } }
    descriptor.includePendingChanges = query.seesPending
    return descriptor
  }

  private func yards(_ query: Call.Query) -> FetchDescriptor<Yard> {
    let order: SortOrder = query.isDescending ? .reverse : .forward
    var descriptor = FetchDescriptor<Yard>(
      sortBy: [SortDescriptor(\.score, order: order), SortDescriptor(\.number)])
    if let minimum = query.minimum { descriptor.predicate = #Predicate { $0.score >= minimum } }
    descriptor.includePendingChanges = query.seesPending
    return descriptor
  }

  private func plants(_ query: Call.Query) -> FetchDescriptor<Plant> {
    let order: SortOrder = query.isDescending ? .reverse : .forward
    var descriptor = FetchDescriptor<Plant>(
      sortBy: [SortDescriptor(\.score, order: order), SortDescriptor(\.number)])
    if let minimum = query.minimum { descriptor.predicate = #Predicate { $0.score >= minimum } }
    descriptor.includePendingChanges = query.seesPending
    return descriptor
  }
}
