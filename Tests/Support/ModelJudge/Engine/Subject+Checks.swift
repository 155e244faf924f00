import SwiftData

/// Comparisons of what the engine shows with the reference.
extension Subject {
  /// Compares all that a context shows.
  public func check(_ index: Int, _ reference: Reference) throws {
    let expected = reference.contexts[index]
    for number in expected.view.nodes.keys.sorted() {
      guard let node = expected.view.nodes[number] else { continue }
      let object = try object(index, number)
      try checkState(of: object, number, index, expected)
      // As of one that was undone after a save.
      if !reference.profile.hasUndo || !expected.isDeleted(number) {
        try checkValues(of: object, number, node)
      }
      try checkLinks(of: object, number, node, expected.view)
      try checkIdentity(of: object, number, node, index, expected)
    }
    for (number, node) in expected.free.nodes.sorted(by: { $0.key < $1.key }) {
      guard let object = objects[index][number] else { continue }
      if object.modelContext != nil {
        throw Mismatch("o\(number).modelContext: expected nil, got a context")
      }
      // What an undone insertion leaves of an object's attributes isn't specified.
      if !reference.profile.hasUndo { try checkValues(of: object, number, node) }
      try checkLinks(of: object, number, node, expected.free)
    }
    try checkLost(index, reference)
    try checkChanges(index, reference)
  }

  /// Whether objects whose rows others deleted have left the context.
  ///
  /// What another process deleted shows once an object is read, so there this does not look.
  private func checkLost(_ index: Int, _ reference: Reference) throws {
    if reference.profile.hasWorkers { return }
    let expected = reference.contexts[index]
    for number in expected.lost.sorted() where !expected.has(number) {
      if let object = objects[index][number], object.modelContext != nil {
        throw Mismatch("o\(number).modelContext: expected nil after its row went, got a context")
      }
    }
  }

  /// Whether the context knows that it has something to save.
  public func checkChanges(_ index: Int, _ reference: Reference) throws {
    let (context, expected) = (contexts[index], reference.contexts[index])
    if !expected.isClean, !context.hasChanges {
      throw Mismatch("context\(index).hasChanges: expected true, got false")
    }
  }

  private func checkState(
    of object: any Numbered, _ number: Int, _ index: Int, _ expected: ReferenceContext
  ) throws {
    if object.modelContext !== contexts[index] {
      throw Mismatch("o\(number).modelContext: expected context\(index), got another or nil")
    }
    let isDeleted = expected.isDeleted(number)
    if object.isDeleted != isDeleted {
      throw Mismatch("o\(number).isDeleted: expected \(isDeleted), got \(!isDeleted)")
    }
  }

  private func checkValues(of object: any Numbered, _ number: Int, _ node: Node) throws {
    if object.number != node.label {
      throw Mismatch("o\(number).number: expected \(node.label), got \(object.number)")
    }
    for (attribute, access) in AttributeAccess.of(node.kind).enumerated() {
      let (value, expected) = (access.get(object), node.values[attribute])
      if value != expected {
        throw Mismatch(
          "o\(number).\(node.kind.attributes[attribute]): expected "
            + "\(expected.map(String.init) ?? "nil"), got \(value.map(String.init) ?? "nil")")
      }
    }
  }

  private func checkLinks(
    of object: any Numbered, _ number: Int, _ node: Node, _ graph: Graph
  ) throws {
    for link in node.kind.links {
      let found = LinkAccess.of(link).targets(object).map(\.number)
      let expected = graph.targets(number, link).map { graph.nodes[$0]?.label ?? 0 }
      if found != expected {
        throw Mismatch("o\(number).\(link): expected \(expected), got \(found)")
      }
    }
  }

  /// One object per row: what relationships and identifiers lead to is the object that is held.
  private func checkIdentity(
    of object: any Numbered, _ number: Int, _ node: Node, _ index: Int,
    _ expected: ReferenceContext
  ) throws {
    for link in node.kind.links {
      let found = LinkAccess.of(link).targets(object)
      for (target, targetNumber) in zip(found, expected.view.targets(number, link)) {
        let held = try self.object(index, targetNumber)
        if held !== target {
          throw Mismatch("o\(number).\(link) leads to a second object for o\(targetNumber)")
        }
      }
    }
    for alias in expected.aliases[number] ?? [] {
      guard let other = objects[index][alias] else { continue }
      if other.persistentModelID != object.persistentModelID {
        throw Mismatch("o\(alias) and o\(number) have different persistentModelIDs")
      }
      try checkValues(of: other, alias, node)
      try checkLinks(of: other, number, node, expected.view)
    }
  }

  // MARK: The store

  /// Compares the rows with the reference by a context that has seen nothing yet.
  public func checkStore(_ store: Graph, kinds: [Kind], reopens: Bool) throws {
    let fresh = ModelContext(reopens && url != nil ? try makeContainer() : containers[0])
    var found: [Int: any Numbered] = [:]
    for kind in kinds {
      let (objects, expected) = (try all(kind, fresh), store.all(kind))
      if objects.count != expected.count {
        throw Mismatch(
          "rows of \(kind.rawValue): expected \(expected.count), got \(objects.count)")
      }
      for object in objects { found[object.number] = object }
    }
    for number in store.nodes.keys.sorted() {
      guard let node = store.nodes[number] else { continue }
      guard let object = found[node.label] else {
        throw Mismatch("the store has no row of o\(number)")
      }
      identifiers[number] = object.persistentModelID
      do {
        try checkValues(of: object, number, node)
        try checkLinks(of: object, number, node, store)
      } catch let mismatch as Mismatch {
        throw Mismatch("in a new context, \(mismatch)")
      }
    }
  }
}
