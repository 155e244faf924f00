import SteadRecords

/// Which names of a store belong to which of a container: a renaming identifier decides before a name, on both sides.
///
/// Names that differ only in case are one, unless both sides have them as they are.
struct CoreDataNames {
  /// The name in the store of each name of the container that has one.
  let stored: [String: String]
  let conflicts: [NameMatch.Conflict]

  /// - Parameters:
  ///   - stored: The names in the store, with their renaming identifiers as far as its model has them.
  ///   - own: The names in the container, with their original names.
  init(
    stored: [(name: String, identifier: String?)], own: [(name: String, originalName: String?)]
  ) {
    let known = Set(own.flatMap { [$0.name, $0.originalName ?? $0.name] })
    let similar = Dictionary(grouping: known) { $0.uppercased() }
    func spelled(_ name: String) -> String {
      if known.contains(name) { return name }
      let others = similar[name.uppercased()] ?? []
      return others.count == 1 ? others[0] : name
    }
    let match = NameMatch(
      from: stored.map {
        NameMatch.Name(spelled($0.name), originalName: $0.identifier.map(spelled))
      },
      to: own.map { NameMatch.Name($0.name, originalName: $0.originalName) })
    let names = Dictionary(stored.map { (spelled($0.name), $0.name) }) { first, _ in first }
    self.stored = match.old.compactMapValues { names[$0] }
    conflicts = match.conflicts
  }
}
