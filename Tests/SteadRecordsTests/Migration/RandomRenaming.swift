import SteadSQLite
import SteadTestSupport

@testable import SteadRecords

/// A next version of a random schema that gives classes and properties each other's names, and what each of them was.
///
/// What is right is known from how the version is made, without a rule that could be wrong: every member that is kept
/// says which it was, and only names that nothing old still has a right to go to new members.
struct RandomRenaming {
  var new: RandomSchema
  /// The old entity of each that had one.
  private(set) var entities: [String: String] = [:]
  /// By new entity, the old name of each attribute and end that had one.
  private(set) var members: [String: [String: String]] = [:]
  /// The old link of each new one.
  private(set) var links: [Int: Int] = [:]
  /// How many names have led back to what once had them, without saying so.
  private(set) var namesLedBack = 0
  /// How many new members have a name that a removed one once had, and that was another one's since.
  private(set) var namesOfTwo = 0

  private static let entityNames = RandomSchema.entityNames
  private static let memberNames = (0..<7).map { "p\($0)" }

  /// A schema whose members have names of one pool, so that attributes and relationships can take each other's.
  static func first(using random: inout SplitMix) -> RandomSchema {
    var schema = RandomSchema(using: &random)
    for entity in schema.entities.keys.sorted() {
      var free = memberNames.shuffled(using: &random)
      for index in (schema.entities[entity] ?? []).indices {
        schema.entities[entity]?[index].name = free.removeLast()
      }
      for index in schema.links.indices.reversed() {
        let inEntity =
          (schema.links[index].end.entity == entity ? 1 : 0)
          + (schema.links[index].inverse?.entity == entity ? 1 : 0)
        guard inEntity <= free.count else {
          schema.links.remove(at: index)
          continue
        }
        if schema.links[index].end.entity == entity {
          schema.links[index].end.name = free.removeLast()
        }
        if schema.links[index].inverse?.entity == entity {
          schema.links[index].inverse?.name = free.removeLast()
        }
      }
    }
    return schema
  }

  /// A name before and now.
  private struct Renamed {
    var old: String
    var oldClaim: String?
    var name: String
    var claim: String?

    /// Whether it has its first name again, and only that says what it was.
    var isLedBack: Bool { name != old && claim == nil }
  }

  /// nil if chance made a version that could be read in two ways.
  init?(of old: RandomSchema, using random: inout SplitMix) {
    new = RandomSchema.empty
    let names = old.entities.keys.sorted().map { ($0, old.originals[$0]) }
    guard let classes = Self.rename(names, in: Self.entityNames, using: &random) else { return nil }
    for each in classes {
      new.entities[each.name] = []
      new.originals[each.name] = each.claim
      entities[each.name] = each.old
    }
    let now = Dictionary(uniqueKeysWithValues: classes.map { ($0.old, $0.name) })
    let keptLinks = old.links.indices.filter {
      now[old.links[$0].end.entity] != nil && now[old.links[$0].destination] != nil
        && Int.random(in: 0..<5, using: &random) > 0
    }
    var renamed: [String: [Renamed]] = [:]
    var dropped: [String: [(String, String?)]] = [:]
    for each in classes {
      let all = Self.members(of: each.old, in: old)
      let kept = Self.members(of: each.old, in: old, links: keptLinks).filter { member in
        guard (old.entities[each.old] ?? []).contains(where: { $0.name == member.0 }) else {
          return true
        }
        // More often if its first name is another one's now.
        let isReplaced = all.contains { $0.0 == member.1 }
        return Int.random(in: 0..<(isReplaced ? 2 : 6), using: &random) > 0
      }
      guard
        let members = Self.rename(
          all, keeping: Set(kept.map(\.0)), in: Self.memberNames, using: &random)
      else { return nil }
      renamed[each.old] = members
      dropped[each.old] = all.filter { member in !members.contains { $0.old == member.0 } }
      self.members[each.name] = Dictionary(
        uniqueKeysWithValues: members.map { ($0.name, $0.old) })
      for attribute in old.entities[each.old] ?? [] {
        guard let member = members.first(where: { $0.old == attribute.name }) else { continue }
        var attribute = attribute
        (attribute.name, attribute.originalName) = (member.name, member.claim)
        new.entities[each.name]?.append(attribute)
      }
    }
    for index in keptLinks {
      links[new.links.count] = index
      new.links.append(Self.renamed(old.links[index], now, renamed))
    }
    add(classes, renamed, dropped, old, using: &random)
  }

  private static func members(
    of entity: String, in schema: RandomSchema, links: [Int]? = nil
  ) -> [(String, String?)] {
    let ends = (links ?? Array(schema.links.indices)).flatMap { index in
      [schema.links[index].end, schema.links[index].inverse].compactMap(\.self)
    }.filter { $0.entity == entity }
    return (schema.entities[entity] ?? []).map { ($0.name, $0.originalName) }
      + ends.map { ($0.name, $0.originalName) }
  }

  private static func renamed(
    _ link: RandomSchema.Link, _ now: [String: String], _ members: [String: [Renamed]]
  ) -> RandomSchema.Link {
    func renamed(_ end: RandomSchema.End) -> RandomSchema.End {
      let member = members[end.entity]?.first { $0.old == end.name }
      return RandomSchema.End(
        entity: now[end.entity] ?? end.entity, name: member?.name ?? end.name,
        originalName: member?.claim, isMany: end.isMany)
    }
    return RandomSchema.Link(
      end: renamed(link.end), inverse: link.inverse.map(renamed),
      destination: now[link.destination] ?? link.destination)
  }

  /// Gives some of the names that are kept to each other, and some new ones.
  private static func rename(
    _ old: [(String, String?)], keeping: Set<String>? = nil, in pool: [String],
    using random: inout SplitMix
  ) -> [Renamed]? {
    let kept = old.filter { name, _ in
      keeping?.contains(name) ?? (Int.random(in: 0..<8, using: &random) > 0)
    }
    let moving = Set(kept.filter { _ in Bool.random(using: &random) }.map(\.0))
    let staying = Set(kept.map(\.0)).subtracting(moving)
    var free = pool.filter { !staying.contains($0) }.shuffled(using: &random)
    let result = kept.map { name, claim -> Renamed in
      // The name that it once had means it again, if nothing has taken that since.
      let earlier = claim.flatMap { first in
        old.contains { $0.0 == first } || old.count { $0.1 == first } > 1 ? nil : first
      }
      if moving.contains(name), let earlier, free.contains(earlier),
        Int.random(in: 0..<3, using: &random) == 0
      {
        free.removeAll { $0 == earlier }
        return Renamed(old: name, oldClaim: claim, name: earlier, claim: nil)
      }
      guard moving.contains(name), let other = free.popLast(), other != name else {
        free.removeAll { $0 == name }
        // A renaming identifier may stay in the source, or go.
        return Renamed(
          old: name, oldClaim: claim, name: name,
          claim: Bool.random(using: &random) ? claim : nil)
      }
      // The first name of a chain does as well, if nothing else has it.
      let first = earlier == other ? nil : earlier
      return Renamed(
        old: name, oldClaim: claim, name: other,
        claim: Bool.random(using: &random) ? first ?? name : name)
    }
    guard Set(result.map(\.name)).count == result.count else { return nil }
    for each in result where each.name != each.old {
      // It would read as what had the name already, renamed before.
      if old.contains(where: { $0.0 == each.name && $0.1 == each.claim }) { return nil }
    }
    return result
  }

  /// Adds classes and attributes under names that were given away, or that nothing had.
  private mutating func add(
    _ classes: [Renamed], _ renamed: [String: [Renamed]], _ dropped: [String: [(String, String?)]],
    _ old: RandomSchema, using random: inout SplitMix
  ) {
    let gone = old.entities.keys.filter { name in !classes.contains { $0.old == name } }
    let removed = gone.map { ($0, old.originals[$0]) }
    let known = Set(old.entities.keys)
    let taken = Self.names(of: removed, classes, known).union(new.entities.keys)
    for name in Self.entityNames where !taken.contains(name) && Bool.random(using: &random) {
      new.entities[name] = []
      if removed.contains(where: { $0.1 == name }) { namesOfTwo += 1 }
    }
    namesLedBack += classes.count(where: \.isLedBack)
    for name in new.entities.keys.sorted() where Bool.random(using: &random) {
      let before = entities[name] ?? ""
      let (removed, kept) = (dropped[before] ?? [], renamed[before] ?? [])
      let known = Set(Self.members(of: before, in: old).map(\.0))
      let taken = Self.names(of: removed, kept, known)
        .union(Self.members(of: name, in: new).map(\.0))
      // Names that two had one after the other, and others that were given away, first.
      let free = Self.memberNames.filter { !taken.contains($0) }
      let given = free.filter { name in kept.contains { $0.old == name } }
      let ofTwo = given.filter { name in removed.contains { $0.1 == name } }
      guard let free = ofTwo.first ?? given.first ?? free.first else { continue }
      if !ofTwo.isEmpty { namesOfTwo += 1 }
      new.entities[name]?.append(
        RandomSchema.Attribute(
          name: free, kind: .allCases.randomElement(using: &random) ?? .text,
          isOptional: true, hasDefault: Bool.random(using: &random), isUnique: false))
    }
    namesLedBack += renamed.values.joined().count(where: \.isLedBack)
  }

  /// The names under which a new member would be taken for an old one: those of what was removed, the ones that it
  /// once had if nothing has had them since, and those before of what has its first name again.
  private static func names(
    of removed: [(String, String?)], _ kept: [Renamed], _ known: Set<String>
  ) -> Set<String> {
    Set(removed.map(\.0))
      .union(removed.compactMap(\.1).filter { !known.contains($0) })
      .union(kept.filter(\.isLedBack).map(\.old))
  }
}

// MARK: What a store holds afterwards

extension RandomRenaming {
  /// What a store holds afterwards, from what each class and property was.
  func expected(_ before: RandomStore.Contents, _ old: RandomSchema) -> RandomStore.Contents {
    var after = RandomStore.Contents()
    for (entity, attributes) in new.entities {
      let rows = entities[entity].flatMap { before.rows[$0] } ?? [:]
      after.rows[entity] = rows.mapValues { row in
        var values: [String: SQLValue] = [:]
        for attribute in attributes {
          let origin = members[entity]?[attribute.name]
          values[attribute.name] =
            origin.map { row[$0] ?? .null } ?? attribute.storedDefault ?? .null
        }
        return values
      }
    }
    for (index, link) in new.links.enumerated() {
      guard links[index] != nil else { continue }
      for end in link.ends {
        let was = "\(entities[end.entity] ?? "").\(members[end.entity]?[end.name] ?? "")"
        after.pairs["\(end.entity).\(end.name)"] = before.pairs[was]
      }
    }
    return after
  }
}

extension RandomSchema.Link {
  var ends: [RandomSchema.End] { [end] + (inverse.map { [$0] } ?? []) }
}

extension RandomStore.Contents {
  /// Without the order of the pairs.
  var withoutOrder: Self {
    var result = self
    result.pairs = pairs.mapValues { $0.mapValues { $0.sorted() } }
    return result
  }
}
