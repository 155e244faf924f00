extension Reference {
  /// Does a step that changes objects.
  mutating func change(_ step: Step, _ context: Int) throws -> [Call] {
    switch step.action {
    case .create, .insert: return create(step, context)
    case .insertAgain: return insertAgain(step, context)
    case .delete: return delete(step, context)
    case .set, .setKey: return set(step, context)
    default: return try link(step, context)
    }
  }

  private mutating func create(_ step: Step, _ context: Int) -> [Call] {
    let kind = profile.kinds[step.a % profile.kinds.count]
    let number = newNumber()
    var node = Node(kind, number: number, score: step.b)
    let hasKeys = !kind.uniqueKeys.isEmpty && profile.hasUniqueKeys
    // Tags have a key more often, the other classes often enough to meet.
    let hasName = hasKeys && step.c % 3 > (kind == .tag ? 0 : 1)
    let name = hasName ? (kind == .tag ? step.c : step.c / 3) % 4 : nil
    if let name { node.values[kind.uniqueKeys[0][0]] = name }
    var calls: [Call] = [.create(context, number, kind, score: step.b, name: name)]
    if hasKeys, kind == .tag, step.d % 2 == 0 {
      // The compound key, of few values.
      for (attribute, value) in [(2, step.d / 2 % 2), (3, step.d / 4 % 2)] {
        node.values[attribute] = value
        calls.append(.set(context, number, attribute: attribute, value))
      }
    }
    contexts[context].free.nodes[number] = node
    if step.action == .create { return calls }
    admit(context, number)
    return calls + [.insert(context, number)]
  }

  private mutating func insertAgain(_ step: Step, _ context: Int) -> [Call] {
    let here = contexts[context]
    // What undo leaves of an object's attributes isn't specified.
    let gone = (here.free.nodes.keys.sorted() + here.deleted).filter { !here.undone.contains($0) }
    let choice = gone + here.live.prefix(1)
    guard !choice.isEmpty else { return [] }
    let object = choice[step.a % choice.count]
    guard isFree(context, object) else {
      contexts[context].cancelDeletion(object)
      return [.insert(context, object)]
    }
    guard saved.contains(object) else {
      admit(context, object)
      return [.insert(context, object)]
    }
    // Undo would bring the same object back under its old name.
    if profile.hasUndo || here.free.nodes[object]?.hasLinks == true { return [] }
    let name = newNumber()
    contexts[context].free.nodes[name] = contexts[context].free.nodes.removeValue(forKey: object)
    admit(context, name)
    return [.insertAgain(context, object, as: name)]
  }

  private mutating func delete(_ step: Step, _ context: Int) -> [Call] {
    let here = contexts[context]
    // Sometimes one that is deleted already, or is in no context.
    let others = step.b % 8 == 7 ? here.deleted + here.free.nodes.keys.sorted() : []
    let choice = here.live + others
    guard !choice.isEmpty else { return [] }
    let object = choice[step.a % choice.count]
    if !isFree(context, object) { release(context, contexts[context].delete(object)) }
    return [.delete(context, handle(step, context, object))]
  }

  private mutating func set(_ step: Step, _ context: Int) -> [Call] {
    let here = contexts[context]
    let isKey = step.action == .setKey
    if isKey, !profile.hasUniqueKeys { return [] }
    let all = here.live + (profile.hasUndo ? [] : here.free.nodes.keys.sorted())
    let choice = all.filter { object in
      let kind = (here.view.nodes[object] ?? here.free.nodes[object])?.kind
      return !isKey || kind?.uniqueKeys.isEmpty == false
    }
    guard !choice.isEmpty else { return [] }
    let object = choice[step.a % choice.count]
    guard let node = here.view.nodes[object] ?? here.free.nodes[object] else { return [] }
    let keys = node.kind.keyAttributes
    let choices = isKey ? keys : node.values.indices.filter { !keys.contains($0) }
    let attribute = choices[step.b % choices.count]
    let isCompound = node.kind == .tag && attribute > 1
    // Booleans have two values only.
    let isBoolean = node.kind == .wide && attribute > 0 && (attribute - 1) % 8 == 2
    // Few values, so that keys meet; the compound one has two properties that have to.
    let number = step.c % (isBoolean || isCompound ? 2 : (isKey ? 3 : 10))
    let value = node.kind.isOptional(attribute) && step.d % 3 == 0 ? nil : number
    if node.values[attribute] == value { return [] }
    if isFree(context, object) {
      contexts[context].free.nodes[object]?.values[attribute] = value
    } else {
      contexts[context].set(object, attribute, value)
    }
    return [.set(context, handle(step, context, object), attribute: attribute, value)]
  }

  /// An object, or another one that stands for the same row.
  func handle(_ step: Step, _ context: Int, _ object: Int) -> Int {
    let all = [object] + (contexts[context].aliases[object] ?? [])
    return all[step.d % all.count]
  }

  // MARK: Links

  private mutating func link(_ step: Step, _ context: Int) throws -> [Call] {
    let links = profile.links
    let link = links[step.c % links.count]
    if (step.action == .setOne) == link.isMany { return [] }
    let owners = pool(context, link.source)
    guard !owners.isEmpty else { return [] }
    let owner = owners[step.a % owners.count]
    var targets = pool(context, link.target)
    if step.d % 16 == 15, !isFree(context, owner) {
      targets += contexts[context].deleted.filter {
        contexts[context].view.nodes[$0]?.kind == link.target
      }
    }
    let target = targets.isEmpty ? nil : targets[step.b % targets.count]
    if link.isMany { return linkMany(step, context, link, owner, targets) }

    let chosen = step.d % 4 == 0 ? nil : target
    if chosen == nil,
      isFree(context, owner)
        ? contexts[context].free.one(owner, link) == nil
        : contexts[context].view.one(owner, link) == nil
    {
      return []
    }
    // A free object gives up its old links before it comes into the context with what it reaches.
    if let chosen, isFree(context, owner), !isFree(context, chosen) {
      work(context, owner) { $0.setOne(owner, link, nil) }
    }
    guard join(context, link, owner, chosen.map { [$0] } ?? []) else { return [] }
    work(context, owner) { $0.setOne(owner, link, chosen) }
    return [.setOne(context, handle(step, context, owner), link, chosen)]
  }

  private mutating func linkMany(
    _ step: Step, _ context: Int, _ link: Link, _ owner: Int, _ targets: [Int]
  ) -> [Call] {
    let graph = isFree(context, owner) ? contexts[context].free : contexts[context].view
    let list = graph.many(owner, link)
    guard let (edit, new) = Self.edit(step, list, targets, graph) else { return [] }
    if isFree(context, owner), new.contains(where: { !isFree(context, $0) }) {
      let free = new.filter { list.contains($0) || isFree(context, $0) }
      if link.inverse != nil { work(context, owner) { $0.setMany(owner, link, free) } }
    }
    guard join(context, link, owner, new.filter { !list.contains($0) }) else { return [] }
    work(context, owner) { $0.setMany(owner, link, new) }
    return [.edit(context, handle(step, context, owner), link, edit)]
  }

  /// How a step changes a list, and the list that comes of it.
  private static func edit(
    _ step: Step, _ list: [Int], _ targets: [Int], _ graph: Graph
  ) -> (Call.Edit, [Int])? {
    var new = list
    switch step.action {
    case .append, .insertAt, .assign:
      guard !targets.isEmpty else { return nil }
      let target = targets[step.b % targets.count]
      if step.action == .append { return (.append(target), list + [target]) }
      if step.action == .insertAt {
        let place = step.d % (list.count + 1)
        new.insert(target, at: place)
        return (.insert(target, at: place), new)
      }
      new = (0..<(step.d % 5)).map { targets[(step.b + $0 * (step.d + 1)) % targets.count] }
      return (.assign(new), new)
    case .sort:
      new.sort { (graph.nodes[$0]?.label ?? 0) < (graph.nodes[$1]?.label ?? 0) }
      return list.isEmpty ? nil : (.sort, new)
    default: break
    }
    guard !list.isEmpty else { return nil }
    let place = step.b % list.count
    switch step.action {
    case .removeAt:
      new.remove(at: place)
      return (.remove(at: place), new)
    case .swap:
      let other = step.d % list.count
      new.swapAt(place, other)
      return (.swap(place, other), new)
    default: return (.removeAll, [])
    }
  }

  /// Brings objects that are to be linked into one context; false where that isn't specified.
  private mutating func join(
    _ context: Int, _ link: Link, _ owner: Int, _ targets: [Int]
  ) -> Bool {
    if targets.isEmpty { return true }
    let all = [owner] + targets
    if all.allSatisfy({ isFree(context, $0) }) { return link.inverse != nil && !profile.hasUndo }
    let here = contexts[context]
    if all.contains(where: here.isDeleted), all.contains(where: { isFree(context, $0) }) {
      return false
    }
    // What both are in comes in one go; the order doesn't matter without unique keys.
    for object in all { admit(context, object) }
    return true
  }

  /// Changes links in the context, or between objects of no context.
  private mutating func work(
    _ context: Int, _ owner: Int, _ change: (inout ReferenceContext) -> Void
  ) {
    guard isFree(context, owner) else { return change(&contexts[context]) }
    var outside = ReferenceContext(contexts[context].free)
    change(&outside)
    contexts[context].free = outside.view
  }
}
