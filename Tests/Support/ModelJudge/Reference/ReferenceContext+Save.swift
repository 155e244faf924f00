extension ReferenceContext {
  /// What a save may throw.
  enum SaveError: String, Codable { case denied, invalid }

  struct SaveOutcome {
    /// Empty when the save succeeds; otherwise it throws one of these.
    var errors: Set<SaveError> = []
    /// The objects that left the context.
    var gone: [Int: Node] = [:]
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
    for merge in merges { try trial.merge(merge.new, into: merge.row) }
    outcome.merged = merges.map(\.new)

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

  /// Which new objects give their values to an object that exists, in the order in which they do; nil when the keys
  /// contradict.
  private func mergesOfUniqueRows() throws -> [(new: Int, row: Int)]? {
    for kind in Kind.allCases {
      // A stored row's new key must not be another stored row's.
      let rows = view.all(kind).filter { base.nodes[$0] != nil }
      for (index, row) in rows.enumerated() {
        for other in rows[..<index] where shareKey(row, other) { return nil }
      }
    }
    var merges: [(new: Int, row: Int)] = []
    var known = view.nodes.keys.filter { base.nodes[$0] != nil }.sorted()
    for batch in pending.batches {
      let count = merges.count
      let new = batch.filter { view.nodes[$0] != nil && base.nodes[$0] == nil }
      for object in new where !known.contains(object) {
        let matches = known.filter { shareKey(object, $0) }
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
          try checkMembers(object, row, merges.filter { $0.row == row }.map(\.new))
          merges.append((object, row))
        }
        known.append(object)
      }
      if merges.count > count + 1 {
        throw Unspecified(reason: "several objects that were inserted at once give their values")
      }
    }
    return merges
  }

  /// What is not specified about the lists of several objects of a row that was saved before.
  private func checkMembers(_ new: Int, _ row: Int, _ others: [Int]) throws {
    guard let kind = view.nodes[new]?.kind, base.nodes[row] != nil else { return }
    if !others.isEmpty, kind.links.contains(where: { $0.inverse?.isMany ?? true || $0.isMany }) {
      let all = [row, new] + others
      for link in kind.links where all.contains(where: { !view.targets($0, link).isEmpty }) {
        throw Unspecified(reason: "the places of \(new) and \(others), which stand for \(row)")
      }
    }
    for link in kind.links where link.isMany && !view.many(new, link).isEmpty {
      let order = pending.orders[End(object: row, link: link)] ?? Pending.Order()
      if order.set.isEmpty, order.added.isEmpty { continue }
      throw Unspecified(reason: "the order of the members of \(new) and \(row)")
    }
  }

  private func checkOrder(_ object: Int, _ matches: [Int], _ batch: [Int]) throws {
    if matches.contains(where: batch.contains) {
      throw Unspecified(reason: "\(object) was inserted at once with an object of its key")
    }
    for match in matches where base.nodes[match] != nil {
      let keys = view.nodes[match]?.kind.keyAttributes ?? []
      if pending.values[match]?.isDisjoint(with: keys) == false {
        throw Unspecified(reason: "\(match) took the key of the new \(object)")
      }
    }
  }

  /// Whether two objects of one class have the same values of a unique key.
  private func shareKey(_ left: Int, _ right: Int) -> Bool {
    guard let left = view.nodes[left], let right = view.nodes[right], left.kind == right.kind else {
      return false
    }
    return left.kind.uniqueKeys.contains { key in
      key.allSatisfy { left.values[$0] != nil && left.values[$0] == right.values[$0] }
    }
  }

  /// Gives a row the values and to-one links of a new object, adds its to-many links, and leads what led to the new
  /// object to the row, at the same place in a list.
  private mutating func merge(_ new: Int, into row: Int) throws {
    for (object, other) in view.nodes {
      for (link, list) in other.manys where list.contains(new) {
        if base.nodes[row] != nil, list.contains(row), link.inverse?.isMany == false {
          throw Unspecified(reason: "whose place \(row) has, its own or that of \(new)")
        }
        view.setList(object, link, list.map { $0 == new ? row : $0 }.unique)
      }
      for (link, target) in other.ones where target == new {
        view.nodes[object]?.ones[link] = row
      }
    }
    guard let node = view.nodes.removeValue(forKey: new) else { return }
    for link in node.kind.links where !link.isMany {
      view.setOne(row, link, node.ones[link], by: node.sharers[link])
    }
    for (link, list) in node.manys {
      if base.nodes[row] != nil, link.inverse?.isMany == false, list.contains(row),
        view.many(row, link).contains(row)
      {
        throw Unspecified(reason: "whose place \(row) has in its own list")
      }
      view.setList(row, link, (view.many(row, link) + list).unique)
    }
    view.nodes[row]?.label = node.label
    view.nodes[row]?.values = node.values
    releaseOldPartners(of: row)
    aliases[row, default: []] += [new] + (aliases.removeValue(forKey: new) ?? [])
  }

  /// Takes an object out of all ends that its to-one links don't lead to any more.
  private mutating func releaseOldPartners(of row: Int) {
    for (object, node) in view.nodes {
      for (link, target) in node.ones where target == row {
        guard let inverse = view.inverse(object, link), !inverse.isMany,
          !view.leads(row, inverse, to: End(object: object, link: link))
        else { continue }
        view.setOne(object, link, nil)
      }
      for (link, list) in node.manys where list.contains(row) {
        guard let inverse = link.inverse, !inverse.isMany,
          !view.leads(row, inverse, to: End(object: object, link: link))
        else { continue }
        view.setList(object, link, list.filter { $0 != row })
      }
    }
  }
}
