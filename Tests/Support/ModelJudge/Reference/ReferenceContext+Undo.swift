/// A context's undo stack, as the views before and after each group.
struct UndoHistory {
  struct Moment {
    var view: Graph
    var pending: Pending
    var saves: Int
  }

  var undos: [(before: Moment, after: Moment)] = []
  var redos: [(before: Moment, after: Moment)] = []
  var open: Moment?
  /// How often the context was saved, since objects have rows from then on.
  var saves = 0

  mutating func clear() { (undos, redos, open) = ([], [], nil) }
}

extension ReferenceContext {
  func moment(_ saves: Int) -> UndoHistory.Moment {
    UndoHistory.Moment(view: view, pending: pending, saves: saves)
  }

  /// Shows what was at a moment. Returns the objects that left; takes those that come back.
  mutating func restore(_ moment: UndoHistory.Moment, saves: Int) -> [Int: Node] {
    let old = view
    view = moment.view
    if saves == moment.saves {
      pending = moment.pending
    } else {
      // A deletion that was saved since is done; an object that was saved since is deleted.
      let finished = moment.pending.deleted.filter { base.nodes[$0] == nil }
      for object in finished { erase(object) }
      pending = Pending()
      pending.deleted = moment.pending.deleted.filter { base.nodes[$0] != nil }
      let inserted = view.nodes.keys.filter { base.nodes[$0] == nil }.sorted()
      pending.batches = inserted.map { [$0] }
      for object in base.nodes.keys.sorted() where view.nodes[object] == nil {
        view.nodes[object] = old.nodes[object] ?? base.nodes[object]
        view.nodes[object]?.clearLinks()
        pending.deleted.append(object)
      }
      noteDifferences()
    }
    var gone = old.nodes.filter { view.nodes[$0.key] == nil }
    for object in gone.keys { gone[object]?.clearLinks() }
    return gone
  }

  /// Makes pending what differs from the rows.
  private mutating func noteDifferences() {
    for (object, node) in view.nodes {
      guard let row = base.nodes[object] else {
        pending.insert(object, node)
        continue
      }
      pending.values[object] = Set(node.values.indices.filter { node.values[$0] != row.values[$0] })
      for link in node.kind.links {
        let end = End(object: object, link: link)
        if !link.isMany {
          let isSame = node.ones[link] == row.ones[link] && node.sharers[link] == row.sharers[link]
          if !isSame { pending.ones.insert(end) }
          continue
        }
        let (new, old) = (node.manys[link] ?? [], row.manys[link] ?? [])
        if new == old { continue }
        for element in old where !new.contains(element) { pending.remove(element, from: end) }
        for element in new where !old.contains(element) { pending.append(element, to: end) }
        pending.reorder(end, new)
      }
    }
  }
}
