/// What every sequence is judged by: a store and the contexts on it, as plain values.
public struct Reference {
  public internal(set) var store = Graph()
  /// What the store may hold after a process was killed, until it was looked at.
  public var candidates: [Graph] = []
  var contexts: [ReferenceContext]
  let profile: Profile
  var nextNumber = 1
  /// The objects that once had a row.
  var saved: Set<Int> = []
  /// How often a save has committed something.
  public private(set) var commits = 0

  public init(_ profile: Profile) {
    self.profile = profile
    contexts = (0..<profile.contextCount).map { _ in ReferenceContext(Graph()) }
  }

  /// A contradiction in the reference itself.
  var problem: String? {
    let graphs = [store] + contexts.flatMap { [$0.base, $0.view, $0.free] }
    return graphs.lazy.compactMap(\.problem).first
  }

  // MARK: Finding objects

  /// The objects of a class that a step may use: those of the context and those of no context.
  func pool(_ context: Int, _ kind: Kind) -> [Int] {
    let here = contexts[context]
    // Another context must not take a row for the row that its object had before.
    let free = here.free.all(kind).filter {
      (contexts.count == 1 || !saved.contains($0)) && !here.undone.contains($0)
    }
    return (here.live.filter { here.view.nodes[$0]?.kind == kind } + free).sorted()
  }

  func isFree(_ context: Int, _ object: Int) -> Bool {
    contexts[context].free.nodes[object] != nil
  }

  // MARK: Common parts of the steps

  mutating func newNumber() -> Int {
    defer { nextNumber += 1 }
    return nextNumber
  }

  mutating func sync(_ context: Int) throws {
    if store != contexts[context].base { contexts[context].history.clear() }
    try merge(context)
  }

  /// Shows a context what the store has.
  private mutating func merge(_ context: Int) throws {
    contexts[context].lost.formUnion(try contexts[context].merge(store))
  }

  /// Adds an object of no context, and what it reaches, to the context.
  mutating func admit(_ context: Int, _ object: Int) {
    guard isFree(context, object) else { return }
    let all = contexts[context].free.reachable(from: object)
    contexts[context].add(all.sorted())
  }

  /// Keeps objects that left a context, so that they can be inserted again.
  mutating func release(_ context: Int, _ gone: [Int: Node]) {
    for (object, node) in gone where contexts[context].aliases[object] == nil {
      contexts[context].free.nodes[object] = node
    }
    for object in gone.keys { contexts[context].aliases[object] = nil }
    contexts[context].departed.formUnion(gone.keys)
  }

  mutating func commit(_ graph: Graph) {
    store = graph
    saved.formUnion(graph.nodes.keys)
    commits += 1
  }

  mutating func save(_ context: Int) throws -> (errors: [String], clearsUndo: Bool) {
    try sync(context)
    let outcome = try contexts[context].save()
    guard outcome.errors.isEmpty else { return (outcome.errors.map(\.rawValue).sorted(), false) }
    commit(contexts[context].base)
    contexts[context].history.saves += 1
    release(context, outcome.gone)
    // What undo leaves of merged objects isn't specified here.
    let clears = !outcome.merged.isEmpty
    if clears { contexts[context].history.clear() }
    return ([], clears)
  }

  /// Deletes rows in the store at once, and then the context's new objects that match.
  mutating func deleteWhere(_ context: Int, _ kind: Kind, _ minimum: Int) throws -> [String] {
    try sync(context)
    let matches = { (graph: Graph, object: Int) in
      graph.nodes[object].map { $0.kind == kind && ($0.values[0] ?? 0) >= minimum } ?? false
    }
    var direct = ReferenceContext(store)
    for object in store.nodes.keys.sorted() where matches(store, object) {
      _ = direct.delete(object)
    }
    let doomed = direct.deleted
    let here = contexts[context]
    if profile.hasUndo, !here.deleted.isEmpty {
      throw Unspecified(reason: "a batch deletion meets deletions that are pending")
    }
    for object in doomed
    where here.view.nodes[object].map({ $0.ones }) != store.nodes[object]?.ones
      || here.view.nodes[object]?.manys != store.nodes[object]?.manys
    {
      throw Unspecified(reason: "\(object) has unsaved links and its row is deleted")
    }
    let outcome = try direct.save()
    if !outcome.errors.isEmpty { return outcome.errors.map(\.rawValue) }
    commit(direct.base)
    contexts[context].history.clear()
    try merge(context)
    for object in contexts[context].live
    where contexts[context].base.nodes[object] == nil && matches(contexts[context].view, object) {
      release(context, contexts[context].delete(object))
      if contexts[context].isDeleted(object) {
        throw Unspecified(reason: "a batch deletion matches a new object that may not be deleted")
      }
    }
    return []
  }

  /// What a fetch returns, by the numbers that the objects have.
  mutating func fetch(_ context: Int, _ kind: Kind, _ query: Call.Query) throws -> [Int] {
    try sync(context)
    let here = contexts[context]
    let nodes =
      query.seesPending
      ? here.live.compactMap { here.view.nodes[$0] } : Array(here.base.nodes.values)
    let found = nodes.filter { node in
      node.kind == kind && query.minimum.map { (node.values[0] ?? 0) >= $0 } ?? true
    }
    return found.sorted { left, right in
      let (one, other) = (left.values[0] ?? 0, right.values[0] ?? 0)
      if one == other { return left.label < right.label }
      return query.isDescending ? one > other : one < other
    }.map(\.label)
  }
}
