extension Reference {
  /// Finds the objects of a step and does it. Returns the calls that do the same to the engine.
  ///
  /// Returns none when nothing fits the step.
  public mutating func perform(_ step: Step) throws -> [Call] {
    let context = step.context % contexts.count
    if contexts[context].isContested, ![.save, .transaction, .process].contains(step.action) {
      // Whatever else comes next, only a save says what both contexts see.
      return try perform(Step(action: .save, context: context))
    }
    switch step.action {
    case .create: return try change(step, context)
    case .read: return read(step, context)
    case .insert, .insertAgain, .setOne, .append, .insertAt, .removeAt, .assign, .swap,
      .sort, .removeAll, .set, .setKey, .delete:
      return try grouped(context) { try $0.change(step, context) }
    case .beginGroup, .endGroup, .undo, .redo:
      return profile.hasUndo ? undoStep(step.action, context) : []
    default:
      return closeGroup(context) + (try storeStep(step, context))
    }
  }

  // MARK: Undo

  /// Puts a change into a group of its own, unless one is open.
  private mutating func grouped(
    _ context: Int, _ change: (inout Reference) throws -> [Call]
  ) throws -> [Call] {
    guard profile.hasUndo, contexts[context].history.open == nil else { return try change(&self) }
    var trial = self
    trial.openGroup(context)
    let calls = try change(&trial)
    if calls.isEmpty { return [] }
    self = trial
    return [.beginGroup(context)] + calls + closeGroup(context)
  }

  private mutating func openGroup(_ context: Int) {
    contexts[context].history.open = contexts[context].moment(contexts[context].history.saves)
  }

  private mutating func closeGroup(_ context: Int) -> [Call] {
    guard let before = contexts[context].history.open else { return [] }
    contexts[context].history.open = nil
    let after = contexts[context].moment(contexts[context].history.saves)
    if before.view != after.view || before.pending.deleted != after.pending.deleted {
      contexts[context].history.undos.append((before, after))
      contexts[context].history.redos = []
      return [.endGroup(context)]
    }
    // Whether changes that cancel each other out are a step of their own isn't specified.
    contexts[context].history.clear()
    return [.endGroup(context), .removeAllActions(context)]
  }

  private mutating func undoStep(_ action: Step.Action, _ context: Int) -> [Call] {
    switch action {
    case .beginGroup:
      if contexts[context].history.open != nil { return [] }
      openGroup(context)
      return [.beginGroup(context)]
    case .endGroup: return closeGroup(context)
    case .undo:
      let closing = closeGroup(context)
      guard let group = contexts[context].history.undos.popLast() else { return closing }
      // Redo leads back to the state from before the undo. A save may have applied rules of deletion since the step.
      let after = contexts[context].moment(contexts[context].history.saves)
      contexts[context].history.redos.append((group.before, after))
      restore(context, group.before)
      return closing + [.undo(context)]
    default:
      let closing = closeGroup(context)
      guard let group = contexts[context].history.redos.popLast() else { return closing }
      contexts[context].history.undos.append(group)
      restore(context, group.after)
      return closing + [.redo(context)]
    }
  }

  private mutating func restore(_ context: Int, _ moment: UndoHistory.Moment) {
    let gone = contexts[context].restore(moment, saves: contexts[context].history.saves)
    contexts[context].undone.formUnion(gone.keys)
    contexts[context].undone.formUnion(contexts[context].deleted)
    release(context, gone)
    contexts[context].undone.formUnion(contexts[context].departed)
    for object in contexts[context].view.nodes.keys {
      contexts[context].free.nodes[object] = nil
    }
  }

  // MARK: Steps that read or write the store

  private func read(_ step: Step, _ context: Int) -> [Call] {
    let link = profile.links[step.c % profile.links.count]
    let here = contexts[context]
    let owners = here.live.filter { here.view.nodes[$0]?.kind == link.source }
    guard !owners.isEmpty else { return [] }
    let owner = owners[step.a % owners.count]
    let targets = here.view.targets(owner, link).map { here.view.nodes[$0]?.label ?? 0 }
    return [.read(context, handle(step, context, owner), link, targets)]
  }

  private mutating func storeStep(_ step: Step, _ context: Int) throws -> [Call] {
    let kind = profile.kinds[step.a % profile.kinds.count]
    switch step.action {
    case .save, .transaction:
      let (errors, clears) = try save(context)
      let call: Call =
        step.action == .save
        ? .save(context, errors: errors) : .transaction(context, errors: errors)
      return [call] + (clears && profile.hasUndo ? [.removeAllActions(context)] : [])
    case .deleteWhere:
      let errors = try deleteWhere(context, kind, step.b)
      contexts[context].history.clear()
      return [.deleteWhere(context, kind, step.b, errors: errors)]
        + (profile.hasUndo ? [.removeAllActions(context)] : [])
    case .rollback:
      release(context, contexts[context].rollback())
      contexts[context].history.clear()
      return [.rollback(context)]
    case .process:
      try sync(context)
      return [.process(context)]
    case .fetch, .fetchStored, .count:
      let query = Call.Query(
        minimum: step.b % 3 == 0 ? nil : step.b, isDescending: step.c % 2 == 1,
        seesPending: step.action != .fetchStored)
      let found = try fetch(context, kind, query)
      return [
        step.action == .count
          ? .count(context, kind, query, found.count) : .fetch(context, kind, query, found)
      ]
    default: return try lifeStep(step, context)
    }
  }

  /// Steps that end the life of objects, contexts or processes.
  private mutating func lifeStep(_ step: Step, _ context: Int) throws -> [Call] {
    switch step.action {
    case .drop:
      let here = contexts[context]
      let dropped = here.live.filter { here.base.nodes[$0] != nil }
      contexts[context].aliases = [:]
      return [.drop(context, dropped)]
    case .newContext:
      contexts[context] = ReferenceContext(store)
      return [.newContext(context)]
    case .reopen:
      guard profile.isOnFile else { return [] }
      contexts = contexts.map { _ in ReferenceContext(store) }
      return [.reopen]
    case .worker, .killedWorker:
      return profile.hasWorkers ? try workerStep(step) : []
    default: return []
    }
  }

  /// Another process does steps of its own, made of this step's numbers.
  private mutating func workerStep(_ step: Step) throws -> [Call] {
    var generator = Generator(profile, seed: UInt64(step.a * 1_000 + step.b))
    let context = contexts.count
    contexts.append(ReferenceContext(store))
    defer { contexts.removeLast() }
    var calls: [Call] = []
    // What the store holds, and after how many of the saves that the worker reports.
    var states = [(saves: 0, store: store)]
    func note(_ more: [Call]) {
      calls += more
      let saves = states[states.count - 1].saves + more.count(where: \.isReportedSave)
      states.append((saves, store))
    }
    for _ in 0..<(3 + step.c % 6) {
      var inner = generator.innerStep()
      inner.context = context
      note(try perform(inner))
    }
    note(try perform(Step(action: .save, context: context)))
    guard step.action == .killedWorker else { return [.worker(calls, killAfter: nil)] }
    let kill = step.d % (states[states.count - 1].saves + 1)
    candidates = states.filter { $0.saves >= kill }.map(\.store)
    return [.worker(calls, killAfter: kill)]
  }
}
