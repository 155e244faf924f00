import SwiftData

/// Reads and writes one relationship of any object.
struct LinkAccess {
  let targets: (any Numbered) -> [any Numbered]
  let setOne: (any Numbered, (any Numbered)?) -> Void
  /// Edits a list; finds objects by their number.
  let edit: (any Numbered, Call.Edit, (Int) throws -> any Numbered) throws -> Void

  init<Owner: Numbered, Target: Numbered>(
    one path: ReferenceWritableKeyPath<Owner, Target?>
  ) {
    targets = { owner in (owner as? Owner)?[keyPath: path].map { [$0] } ?? [] }
    setOne = { ($0 as? Owner)?[keyPath: path] = $1 as? Target }
    edit = { _, _, _ in }
  }

  /// - Parameter change: Changes the list in place, as programs do; a key path would set it.
  init<Owner: Numbered, Target: Numbered>(
    many path: ReferenceWritableKeyPath<Owner, [Target]>,
    _ change: @escaping (Owner, (inout [Target]) -> Void) -> Void
  ) {
    targets = { owner in (owner as? Owner)?[keyPath: path] ?? [] }
    setOne = { _, _ in }
    edit = { owner, edit, find in
      guard let owner = owner as? Owner else { return }
      func target(_ number: Int) throws -> Target {
        guard let target = try find(number) as? Target else {
          throw Mismatch("o\(number) is not a \(Target.self)")
        }
        return target
      }
      try Self.check(edit, owner[keyPath: path].count)
      switch edit {
      case .append(let number):
        let target = try target(number)
        change(owner) { $0.append(target) }
      case .insert(let number, let place):
        let target = try target(number)
        change(owner) { $0.insert(target, at: place) }
      case .remove(let place): change(owner) { $0.remove(at: place) }
      case .assign(let numbers): owner[keyPath: path] = try numbers.map(target)
      case .swap(let left, let right): change(owner) { $0.swapAt(left, right) }
      case .sort: change(owner) { $0.sort { $0.number < $1.number } }
      case .removeAll: change(owner) { $0.removeAll() }
      }
    }
  }

  /// A list that is too short would stop the process.
  private static func check(_ edit: Call.Edit, _ count: Int) throws {
    let least =
      switch edit {
      case .insert(_, let place): place
      case .remove(let place): place + 1
      case .swap(let left, let right): max(left, right) + 1
      default: 0
      }
    if count < least {
      throw Mismatch("a list to edit: expected at least \(least) elements, got \(count)")
    }
  }

  static func of(_ link: Link) -> LinkAccess { all[link] ?? LinkAccess(one: \Item.keeper) }

  // Immutable: made once, of key paths that capture nothing.
  nonisolated(unsafe) private static let all: [Link: LinkAccess] = [
    .kept: LinkAccess(many: \Person.kept) { $1(&$0.kept) },
    .made: LinkAccess(many: \Person.made) { $1(&$0.made) },
    .debts: LinkAccess(many: \Person.debts) { $1(&$0.debts) },
    .rumors: LinkAccess(many: \Person.rumors) { $1(&$0.rumors) },
    .card: LinkAccess(one: \Person.card),
    .pass: LinkAccess(one: \Person.pass),
    .tags: LinkAccess(many: \Person.tags) { $1(&$0.tags) },
    .owned: LinkAccess(many: \Person.owned) { $1(&$0.owned) },
    .children: LinkAccess(many: \Person.children) { $1(&$0.children) },
    .parent: LinkAccess(one: \Person.parent),
    .peers: LinkAccess(many: \Person.peers) { $1(&$0.peers) },
    .keeper: LinkAccess(one: \Item.keeper),
    .maker: LinkAccess(one: \Item.maker),
    .debtor: LinkAccess(one: \Item.debtor),
    .subject: LinkAccess(one: \Item.subject),
    .place: LinkAccess(one: \Item.place),
    .places: LinkAccess(many: \Item.places) { $1(&$0.places) },
    .holder: LinkAccess(one: \Card.holder),
    .guest: LinkAccess(one: \Card.guest),
    .people: LinkAccess(many: \Tag.people) { $1(&$0.people) },
    .owner: LinkAccess(one: \Tag.owner),
    .first: LinkAccess(one: \Wide.first),
    .rest: LinkAccess(many: \Wide.rest) { $1(&$0.rest) },
    .beds: LinkAccess(many: \Yard.beds) { $1(&$0.beds) },
    .herbs: LinkAccess(many: \Yard.herbs) { $1(&$0.herbs) },
    .favorite: LinkAccess(one: \Yard.favorite),
    .yard: LinkAccess(one: \Plant.yard),
    .moss: LinkAccess(many: \Plant.moss) { $1(&$0.moss) },
    .shoots: LinkAccess(many: \Plant.shoots) { $1(&$0.shoots) },
    .host: LinkAccess(one: \Plant.host),
  ]
}

/// What the engine did that the reference does not do.
public struct Mismatch: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
