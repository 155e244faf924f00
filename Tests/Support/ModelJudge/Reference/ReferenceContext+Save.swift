extension ReferenceContext {
  /// What a save may throw.
  enum SaveError: String, Codable { case denied, invalid }

  struct SaveOutcome {
    /// Empty when the save succeeds; otherwise it throws one of these.
    var errors: Set<SaveError> = []
    /// The objects that left the context.
    var gone: [Int: Node] = [:]
    /// Whether the save changed what the context shows about the objects that stay.
    var changedView = false
    /// The objects that now stand for another object's row.
    var merged: [Int] = []
  }

  /// Makes the view what the store becomes, or changes nothing and says why. Synced before.
  mutating func save() throws -> SaveOutcome {
    var (trial, outcome) = (self, SaveOutcome())
    trial.applyRulesAgain()
    let deletesMore = trial.deleted != deleted
    if trial.hasDeniedDeletion { outcome.errors.insert(.denied) }
    for object in trial.deleted { outcome.gone[object] = trial.drop(object) }
    let merges = try trial.mergesOfUniqueRows()
    if merges == nil {
      outcome.errors.insert(.invalid)
      if deletesMore || linksToDeleted {
        throw Unspecified(reason: "A save fails that has applied the rules of deletion again.")
      }
    }
    guard let merges, outcome.errors.isEmpty else { return SaveOutcome(errors: outcome.errors) }
    for row in merges.map(\.row).unique {
      try trial.merge(merges.filter { $0.row == row }.map(\.new), into: row)
    }
    outcome.merged = merges.map(\.new)

    outcome.changedView =
      deletesMore || trial.view.nodes != view.nodes.filter { outcome.gone[$0.key] == nil }
    trial.base = trial.view
    trial.pending = Pending()
    trial.isContested = false
    self = trial
    return outcome
  }

  /// Whether something leads to an object that the next save deletes.
  private var linksToDeleted: Bool {
    view.nodes.contains { object, node in
      !isDeleted(object)
        && node.kind.links.contains { view.targets(object, $0).contains(where: isDeleted) }
    }
  }

  // MARK: Unique keys

  /// Which new objects give their values to a row that exists; nil when the keys contradict.
  private func mergesOfUniqueRows() throws -> [(new: Int, row: Int)]? {
    let tags = view.all(.tag)
    let keys = Kind.tag.uniqueKeys
    let rows = tags.filter { base.nodes[$0] != nil }
    // A stored row's new key must not be another stored row's.
    for (index, row) in rows.enumerated() {
      for other in rows[..<index] where keys.contains(where: { share($0, row, other) }) {
        return nil
      }
    }
    var merges: [(new: Int, row: Int)] = []
    var known = rows
    for batch in pending.batches {
      let new = batch.filter { view.nodes[$0]?.kind == .tag && base.nodes[$0] == nil }
      for object in new where !known.contains(object) {
        let matches = known.filter { other in keys.contains { share($0, object, other) } }
        try checkOrder(object, matches, batch)
        for merge in merges where matches.contains(merge.row) && !matches.contains(merge.new) {
          throw Unspecified(reason: "\(object) matches what \(merge.new) replaced")
        }
        let targets = Set(matches.map { match in merges.first { $0.new == match }?.row ?? match })
        if targets.count > 1 {
          if matches.allSatisfy({ base.nodes[$0] != nil }) { return nil }
          throw Unspecified(reason: "\(object) matches a new object and another one")
        }
        if let row = targets.first {
          try checkMembers(object, [row] + merges.filter { $0.row == row }.map(\.new))
          merges.append((object, row))
        }
        known.append(object)
      }
    }
    return merges
  }

  /// Which additions come first when several objects of one row have some isn't specified.
  private func checkMembers(_ new: Int, _ others: [Int]) throws {
    for link in Kind.tag.links where link.isMany && !view.many(new, link).isEmpty {
      for other in others {
        let order = pending.orders[End(object: other, link: link)] ?? Pending.Order()
        if order.set.isEmpty, order.added.isEmpty { continue }
        throw Unspecified(reason: "the order of the members of \(new) and \(other)")
      }
    }
  }

  private func checkOrder(_ object: Int, _ matches: [Int], _ batch: [Int]) throws {
    if matches.contains(where: batch.contains) {
      throw Unspecified(reason: "\(object) was inserted at once with an object of its key")
    }
    for match in matches {
      if pending.values[match]?.isDisjoint(with: [1, 2, 3]) == false, base.nodes[match] != nil {
        throw Unspecified(reason: "\(match) took the key of the new \(object)")
      }
    }
    if matches.count > 1, matches.contains(where: { base.nodes[$0] == nil }) {
      throw Unspecified(reason: "\(object) matches more than one object, some of them new")
    }
  }

  private func share(_ key: [Int], _ left: Int, _ right: Int) -> Bool {
    guard let left = view.nodes[left]?.values, let right = view.nodes[right]?.values else {
      return false
    }
    return key.allSatisfy { left[$0] != nil && left[$0] == right[$0] }
  }

  /// Gives a row the values and to-one links of the last of the new objects, and adds their to-many links.
  private mutating func merge(_ objects: [Int], into row: Int) throws {
    let owners = ([row] + objects).map { view.nodes[$0]?.ones ?? [:] }
    for new in objects { try merge(new, into: row) }
    // It leaves an owner's list last, so that it keeps the first of all their places there.
    for (link, old) in owners.joined() {
      guard old != view.one(row, link), let inverse = link.inverse else { continue }
      view.setList(old, inverse, view.many(old, inverse).filter { $0 != row })
    }
  }

  private mutating func merge(_ new: Int, into row: Int) throws {
    guard let node = view.nodes[new] else { return }
    // What refers to the new object refers to the row, at the same place in a list.
    for (object, other) in view.nodes {
      for (link, list) in other.manys where list.contains(new) {
        if base.nodes[row] != nil, link.inverse?.isMany == false, list.contains(row) {
          throw Unspecified(reason: "whose place \(row) has, its own or that of \(new)")
        }
        view.setList(object, link, list.map { $0 == new ? row : $0 }.unique)
      }
      for (link, target) in other.ones where target == new {
        view.nodes[object]?.ones[link] = row
      }
    }
    for link in node.kind.links where !link.isMany { view.nodes[row]?.ones[link] = node.ones[link] }
    for (link, list) in node.manys {
      view.setList(row, link, (view.many(row, link) + list).unique)
    }
    view.nodes[row]?.label = node.label
    view.nodes[row]?.values = node.values
    view.nodes[new] = nil
    aliases[row, default: []] += [new] + (aliases.removeValue(forKey: new) ?? [])
  }
}
