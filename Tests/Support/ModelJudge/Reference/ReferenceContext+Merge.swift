extension ReferenceContext {
  /// Takes what others committed. What is pending here keeps this context's value.
  ///
  /// Returns the objects whose rows others deleted.
  mutating func merge(_ store: Graph) throws -> [Int] {
    if store == base { return [] }
    if pending.deleted.contains(where: { movesWhatRulesConcern($0, store) }) {
      throw Unspecified(reason: "Others have moved what a rule of a pending deletion came to.")
    }
    let gone = base.nodes.keys.filter { store.nodes[$0] == nil }
    for object in gone { erase(object) }
    for object in gone { aliases[object] = nil }
    if pending.ones.contains(where: { isContested($0, store) }) { isContested = true }

    var merged = store
    for (object, node) in view.nodes {
      if store.nodes[object] == nil {
        merged.nodes[object] = node
      } else {
        for attribute in pending.values[object] ?? [] {
          merged.nodes[object]?.values[attribute] = node.values[attribute]
        }
      }
    }
    for end in pending.ones where merged.nodes[end.object] != nil {
      // Of what this context deletes, the save clears the links that the store has by then. A link that was made after
      // the deletion counts, and the save applies the rules to it.
      if isDeleted(end.object), view.one(end.object, end.link) == nil, isContested(end, store) {
        continue
      }
      merged.setOne(
        end.object, end.link, view.one(end.object, end.link),
        by: view.inverse(end.object, end.link))
    }
    clearOneSidedPartners(&merged)
    for (object, node) in merged.nodes {
      for link in node.kind.links where link.isMany {
        merged.setList(object, link, try mergedList(End(object: object, link: link), merged, store))
      }
    }
    (view, base) = (merged, store)
    return gone
  }

  /// Whether others have led objects elsewhere to which the rules of a deleted one came, or led others to it: what stays
  /// then is judged by `ContestedDeletionTrial`.
  private func movesWhatRulesConcern(_ object: Int, _ store: Graph) -> Bool {
    guard let node = base.nodes[object], store.nodes[object] != nil else { return false }
    return node.kind.links.contains { link in
      (link.rule == .cascade || link.rule == .nullify)
        && Set(base.targets(object, link)) != Set(store.targets(object, link))
    }
  }

  /// Whether others have changed a one-to-one property.
  private func isContested(_ end: End, _ store: Graph) -> Bool {
    guard end.link.isOneToOne else { return false }
    return store.one(end.object, end.link) != base.one(end.object, end.link)
      || store.inverse(end.object, end.link) != base.inverse(end.object, end.link)
  }

  /// Removes an object whose row others deleted; what refers to it isn't changed by this context.
  mutating func erase(_ object: Int) {
    view.nodes[object] = nil
    pending.forget(object)
    for (other, node) in view.nodes {
      for (link, target) in node.ones where target == object {
        view.setOne(other, link, nil)
      }
      for (link, list) in node.manys where list.contains(object) {
        view.setList(other, link, list.filter { $0 != object })
        pending.remove(object, from: End(object: other, link: link))
      }
    }
  }

  private func clearOneSidedPartners(_ merged: inout Graph) {
    let whole = merged
    for (object, node) in whole.nodes {
      for (link, target) in node.ones {
        guard let inverse = whole.inverse(object, link), !inverse.isMany else { continue }
        let isLedBack =
          inverse.sharers.isEmpty
          ? whole.one(target, inverse) == object
          : whole.leads(target, inverse, to: End(object: object, link: link))
        if !isLedBack { merged.setOne(object, link, nil) }
      }
    }
  }

  private func mergedList(_ end: End, _ merged: Graph, _ store: Graph) throws -> [Int] {
    let stored = store.many(end.object, end.link)
    let order = pending.orders[end] ?? Pending.Order()
    var members: Set<Int>
    if let inverse = end.link.inverse, !inverse.isMany {
      let known = stored + order.set + order.added
      members = Set(known.filter { merged.leads($0, inverse, to: end) })
    } else {
      let changes = pending.members[end] ?? [:]
      members = Set(stored).union(changes.keys.filter { changes[$0] == true })
      members = members.filter { changes[$0] != false && merged.nodes[$0] != nil }
    }
    let own = Set(order.set + order.added)
    // Whose place counts when both add the same element isn't specified.
    let known = base.many(end.object, end.link)
    if stored.contains(where: { own.contains($0) && !known.contains($0) }) {
      throw Unspecified(reason: "both contexts added the same object to \(end.link)")
    }
    return (order.set + stored.filter { !own.contains($0) } + order.added)
      .filter(members.contains).unique
  }
}
