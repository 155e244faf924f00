/// What one context shows: the rows of its last sync with its pending changes.
struct ReferenceContext {
  /// The store as of the last sync.
  var base: Graph
  var view: Graph
  var pending = Pending()
  /// The objects that stand for the same row as an older object.
  var aliases: [Int: [Int]] = [:]
  /// The objects that this context made, or that left it, and that are in no context now.
  var free = Graph()
  var history = UndoHistory()
  /// Whether others changed a one-to-one property that is pending here. The next save makes this
  /// context's partners win; what is shown before isn't specified.
  var isContested = false
  /// The objects whose insertion was undone; what is left of their attributes isn't specified.
  var undone: Set<Int> = []
  /// The objects that left the context; an undo of what came before changes their attributes, too.
  var departed: Set<Int> = []
  /// The objects whose rows others have deleted.
  var lost: Set<Int> = []

  init(_ store: Graph) { (base, view) = (store, store) }

  var deleted: [Int] { pending.deleted }
  var isClean: Bool { view == base && pending.deleted.isEmpty }

  /// Whether an object is known, in the context or as one that it can have.
  func has(_ object: Int) -> Bool { view.nodes[object] != nil || free.nodes[object] != nil }

  func isDeleted(_ object: Int) -> Bool { pending.deleted.contains(object) }

  /// The objects that a fetch with pending changes finds.
  var live: [Int] { view.nodes.keys.filter { !isDeleted($0) }.sorted() }

  // MARK: Attributes

  mutating func set(_ object: Int, _ attribute: Int, _ value: Int?) {
    view.nodes[object]?.values[attribute] = value
    pending.values[object, default: []].insert(attribute)
  }

  // MARK: Links

  mutating func setOne(_ object: Int, _ link: Link, _ target: Int?) {
    let old = view.one(object, link)
    if old == target { return }
    if let old, let inverse = view.inverse(object, link) {
      unlinkEnd(End(object: old, link: inverse), object)
    }
    if let target, let inverse = link.inverse {
      linkEnd(End(object: target, link: inverse), object, link)
    }
    putOne(object, link, target, by: link.inverse)
  }

  private mutating func putOne(_ object: Int, _ link: Link, _ target: Int?, by sharer: Link?) {
    view.setOne(object, link, target, by: sharer)
    pending.ones.insert(End(object: object, link: link))
  }

  mutating func setMany(_ object: Int, _ link: Link, _ newList: [Int]) {
    let list = newList.unique
    let old = view.many(object, link)
    if list == old { return }
    let end = End(object: object, link: link)
    let (kept, came) = (old.filter(list.contains), list.filter { !old.contains($0) })
    for gone in old where !list.contains(gone) {
      takeOut(gone, of: end)
      if let inverse = link.inverse { unlinkEnd(End(object: gone, link: inverse), object) }
    }
    for new in came {
      if let inverse = link.inverse { linkEnd(End(object: new, link: inverse), object, link) }
      append(new, to: end)
    }
    view.setList(object, link, list)
    if list != kept + came { pending.reorder(end, list) }
  }

  /// Gives one end a new target, which leads there by a link, and takes that end's old one away.
  private mutating func linkEnd(_ end: End, _ target: Int, _ link: Link) {
    if end.link.isMany { return append(target, to: end) }
    if let old = view.one(end.object, end.link), let inverse = view.inverse(end.object, end.link),
      old != target || inverse != link
    {
      unlinkEnd(End(object: old, link: inverse), end.object)
    }
    putOne(end.object, end.link, target, by: link)
  }

  private mutating func unlinkEnd(_ end: End, _ target: Int) {
    if end.link.isMany {
      takeOut(target, of: end)
    } else {
      putOne(end.object, end.link, nil, by: nil)
    }
  }

  private mutating func append(_ target: Int, to end: End) {
    let list = view.many(end.object, end.link)
    if list.contains(target) { return }
    view.setList(end.object, end.link, list + [target])
    pending.append(target, to: end)
  }

  private mutating func takeOut(_ target: Int, of end: End) {
    let list = view.many(end.object, end.link)
    guard list.contains(target) else { return }
    view.setList(end.object, end.link, list.filter { $0 != target })
    pending.remove(target, from: end)
  }

  // MARK: Coming and going

  /// Adds objects with the links they have among each other.
  mutating func add(_ objects: [Int]) {
    for object in objects {
      guard let node = free.nodes.removeValue(forKey: object) else { continue }
      view.nodes[object] = node
      pending.insert(object, node)
    }
    pending.batches.append(objects)
  }

  mutating func cancelDeletion(_ object: Int) {
    pending.deleted.removeAll { $0 == object }
  }

  /// Deletes an object by the rules of its relationships. Returns the objects that left at once.
  mutating func delete(_ object: Int) -> [Int: Node] {
    var marked: [Int] = []
    mark(object, &marked)
    // What was never saved leaves at once, unless a rule that the save checks holds it.
    var gone: [Int: Node] = [:]
    for object in marked where base.nodes[object] == nil && !isDenied(object) {
      gone[object] = drop(object)
    }
    return gone
  }

  private mutating func mark(_ object: Int, _ marked: inout [Int]) {
    guard let node = view.nodes[object], !isDeleted(object) else { return }
    pending.deleted.append(object)
    marked.append(object)
    applyRules(to: object, node.kind, &marked)
  }

  private mutating func applyRules(to object: Int, _ kind: Kind, _ marked: inout [Int]) {
    for link in kind.links {
      switch link.rule {
      case .nullify: cut(object, link)
      case .cascade:
        let targets = view.targets(object, link)
        cut(object, link)
        for target in targets { mark(target, &marked) }
      case .deny, .noAction: break
      }
    }
  }

  mutating func cut(_ object: Int, _ link: Link) {
    if link.isMany { setMany(object, link, []) } else { setOne(object, link, nil) }
  }

  private func isDenied(_ object: Int) -> Bool {
    guard let node = view.nodes[object] else { return false }
    return node.kind.links.contains { link in
      link.rule == .deny && view.targets(object, link).contains { !isDeleted($0) }
    }
  }

  /// Whether a deleted object still has what its rules forbid.
  var hasDeniedDeletion: Bool { deleted.contains(where: isDenied) }

  /// Applies the rules to what was linked to a deleted object after its deletion.
  mutating func applyRulesAgain() {
    var done = 0
    while done < pending.deleted.count {
      let object = pending.deleted[done]
      var marked: [Int] = []
      if let node = view.nodes[object] { applyRules(to: object, node.kind, &marked) }
      done += 1
    }
  }

  /// Removes an object, and all that refers to it.
  mutating func drop(_ object: Int) -> Node? {
    guard var node = view.nodes[object] else { return nil }
    for link in node.kind.links { cut(object, link) }
    for (other, node) in view.nodes {
      for link in node.kind.links where link.inverse == nil {
        if link.isMany {
          setMany(other, link, view.many(other, link).filter { $0 != object })
        } else if view.one(other, link) == object {
          setOne(other, link, nil)
        }
      }
    }
    view.nodes[object] = nil
    pending.forget(object)
    node.clearLinks()
    return node
  }

  /// Forgets all changes. Returns the new objects, which leave.
  mutating func rollback() -> [Int: Node] {
    var gone = view.nodes.filter { base.nodes[$0.key] == nil }
    for object in gone.keys { gone[object]?.clearLinks() }
    view = base
    pending = Pending()
    return gone
  }
}

extension Array where Element: Hashable {
  /// The elements without those that came before.
  var unique: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
