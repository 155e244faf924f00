import SwiftData

/// Two classes with unique keys, and every kind of relationship between them.
@Model final class Singer {
  @Attribute(.unique) var number: Int
  var points = 0
  var mentor: Singer?
  @Relationship(inverse: \Singer.mentor) var pupils: [Singer] = []
  var choir: Choir?
  var leads: Choir?
  var honours: [Choir] = []

  init(_ number: Int, points: Int = 0) {
    self.number = number
    self.points = points
  }
}

@Model final class Choir {
  @Attribute(.unique) var number: Int
  var points = 0
  @Relationship(inverse: \Singer.choir) var singers: [Singer] = []
  @Relationship(inverse: \Singer.leads) var leader: Singer?
  @Relationship(inverse: \Singer.honours) var honorary: [Singer] = []
  /// Without an inverse, as the next one.
  var guest: Singer?
  var reserves: [Singer] = []

  init(_ number: Int, points: Int = 0) {
    self.number = number
    self.points = points
  }
}

/// All singers and choirs of a context, by what names an object there: its identity, or its key.
struct Concert<Name: Hashable & Comparable>: Equatable {
  struct Contradiction: Error { let description: String }

  private struct Content: Equatable {
    var values: [Int]
    var links: [[Name]]
  }

  private var objects: [Name: Content] = [:]
  /// Whether a save would make several objects one.
  private(set) var hasDuplicates = false

  /// Throws if two sides of a relationship contradict each other, or lead to what is not fetched.
  init(_ context: ModelContext, name: (any PersistentModel) -> Name) throws {
    let singers = try context.fetch(FetchDescriptor<Singer>())
    let choirs = try context.fetch(FetchDescriptor<Choir>())
    func names(_ all: [(any PersistentModel)?]) -> [Name] {
      // Until the save a relationship without an inverse leads to what is deleted.
      all.compactMap { $0 }.filter { !$0.isDeleted }.map(name)
    }
    for singer in singers {
      objects[name(singer)] = Content(
        values: [singer.number, singer.points],
        links: [
          names([singer.mentor]), names(singer.pupils), names([singer.choir]),
          names([singer.leads]), names(singer.honours),
        ])
      try Self.check(singer)
    }
    for choir in choirs {
      objects[name(choir)] = Content(
        values: [choir.number, choir.points],
        links: [
          names(choir.singers), names([choir.leader]), names(choir.honorary),
          names([choir.guest]), names(choir.reserves),
        ])
      try Self.check(choir)
    }
    hasDuplicates =
      Set(singers.map(\.number)).count < singers.count
      || Set(choirs.map(\.number)).count < choirs.count
    let known = Set(objects.keys)
    for (name, content) in objects {
      guard Set(content.links.joined()).isSubset(of: known) else {
        throw Contradiction(description: "\(name) leads to what is not fetched: \(content)")
      }
    }
  }

  private static func check(_ singer: Singer) throws {
    func require(_ holds: Bool, _ what: String) throws {
      if !holds { throw Contradiction(description: "singer \(singer.number): \(what)") }
    }
    try require(singer.mentor.map { $0.pupils.contains(singer) } ?? true, "its mentor lacks it")
    try require(singer.pupils.allSatisfy { $0.mentor === singer }, "a pupil has another mentor")
    try require(singer.choir.map { $0.singers.contains(singer) } ?? true, "its choir lacks it")
    try require(singer.leads.map { $0.leader === singer } ?? true, "its choir has another leader")
    try require(singer.honours.allSatisfy { $0.honorary.contains(singer) }, "an honour lacks it")
  }

  private static func check(_ choir: Choir) throws {
    func require(_ holds: Bool, _ what: String) throws {
      if !holds { throw Contradiction(description: "choir \(choir.number): \(what)") }
    }
    try require(choir.singers.allSatisfy { $0.choir === choir }, "a singer has another choir")
    try require(choir.leader.map { $0.leads === choir } ?? true, "its leader leads another one")
    try require(
      choir.honorary.allSatisfy { $0.honours.contains(choir) }, "an honorary member lacks it")
  }
}

extension Concert: CustomStringConvertible {
  var description: String {
    objects.sorted { $0.key < $1.key }.map { "\($0): \($1.values) \($1.links)" }
      .joined(separator: "; ")
  }
}

extension Concert<String> {
  /// Names objects by their keys.
  init(_ context: ModelContext) throws {
    try self.init(context) { model in
      (model as? Singer).map { "s\($0.number)" } ?? (model as? Choir).map { "c\($0.number)" } ?? "?"
    }
  }
}
