extension ModelContext {
  /// Whether objects of this context tell Observation of reads and writes; true unless set.
  ///
  /// Turn it off, before the first fetch, in a context that nobody observes, such as an import's: a
  /// read then costs a tenth, and an object never gets a registrar.
  public var observesModels: Bool {
    get { graph.observesModels }
    set { graph.observesModels = newValue }
  }

  /// Reads an object's row again, now.
  ///
  /// - Parameters:
  ///   - model: An object of this context; any other is left alone.
  ///   - mergeChanges: true keeps the object's unsaved changes; false forgets them.
  public func refresh<T: PersistentModel>(_ model: T, mergeChanges: Bool = true) {
    graph.refresh(model, keepsChanges: mergeChanges)
  }

  /// The number of objects that this context has registered.
  public var registeredModelCount: Int { graph.registry.count }
}

extension ObjectGraph {
  func refresh(_ model: any PersistentModel, keepsChanges: Bool) {
    let state = model._$statePointer
    guard state.pointee.graph === self, state.pointee.rowID > 0 else { return }
    if !keepsChanges {
      state.pointee.clear(_ModelFlags.changed)
      state.pointee.changes = 0
      changed.removeAll { $0 === model }
    }
    notifying(model, changes: .max) {
      state.pointee.set(_ModelFlags.stale)
      reload(model)
    }
  }
}
