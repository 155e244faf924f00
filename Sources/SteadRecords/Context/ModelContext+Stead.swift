// Disfavoured, so that members of an app's own with the same names win over these.
extension ModelContext {
  /// Whether objects of this context notify Observation of reads and writes; true by default.
  ///
  /// Turn it off before the first fetch in a context that nothing observes, such as an import's: a read then costs a
  /// tenth, and an object never gets a registrar. Objects that the context has already keep the setting that they were
  /// made with.
  @_disfavoredOverload
  public var observesModels: Bool {
    get { linkedGraph().loader.observesModels }
    set { linkedGraph().loader.observesModels = newValue }
  }

  /// Reads an object's row again, now.
  ///
  /// A context does so by itself when it applies other contexts' commits, so this is for the changes of one object that
  /// are to be discarded, and for a value that has to be newer than the last fetch. Has no effect on an object that was
  /// never saved. An object whose row is gone leaves the context. An error of reading is reported to `Stead.onProblem`;
  /// the object keeps its values.
  ///
  /// - Parameters:
  ///   - model: An object of this context; any other is ignored.
  ///   - mergeChanges: true keeps the object's unsaved changes; false discards them.
  @_disfavoredOverload
  public func refresh<T: PersistentModel>(_ model: T, mergeChanges: Bool = true) {
    linkedGraph().reader.refresh(model, keepsChanges: mergeChanges)
  }

  /// The number of objects with a row that this context has registered. A new object counts once it is saved.
  ///
  /// For tests and diagnosis of memory: it falls as objects are released.
  @_disfavoredOverload
  public var registeredModelCount: Int { linkedGraph().loader.registry.count }
}

extension RelationshipReader {
  /// Reads an object's row now, within one notification for all of its properties.
  ///
  /// Without its changes the object is settled first, so that the row's values replace them, and its relationships are
  /// looked up again.
  func refresh(_ model: any PersistentModel, keepsChanges: Bool) {
    let state = model._$statePointer
    guard graph.isHere(model), state.pointee.rowID > 0 else { return }
    graph.notifying(model, nil) {
      if !keepsChanges, model.has(_ModelFlags.changed) {
        graph.settle(model)
        clearCaches(of: model)
      }
      // `reload` gives values to an outdated object alone.
      state.pointee.set(_ModelFlags.stale)
      reload(model)
    }
  }

  /// Empties the relationships of an object whose row is about to be read.
  private func clearCaches(of model: any PersistentModel) {
    for index in graph.entity(of: model).relationships {
      if case .toMany = model.content(at: index) {
        model.setContent(.toMany(_Targets()), at: index)
      } else {
        model.setContent(.toOne(.none), at: index)
      }
    }
  }
}

extension ModelContext {
  /// The SQL that a fetch runs, for reading; its values are bound and not part of the string.
  ///
  /// ```swift
  /// print(try context.sql(for: descriptor))
  /// ```
  ///
  /// Functions and collations in it whose names begin with `stead_` exist in this library's connections alone. Ends
  /// with `-- and a check in memory` if a part of the predicate or the order has no SQL, or unsaved changes of another
  /// class make its rows out of date. Runs nothing.
  ///
  /// - Throws: ``SwiftDataError/unknownSchema`` if the container lacks the class.
  @_disfavoredOverload
  public func sql<T: PersistentModel>(for descriptor: FetchDescriptor<T>) throws -> String {
    let plan = try FetchRunner(linkedGraph()).makePlan(descriptor)
    let entityPlan = linkedGraph().entities[plan.entity.index].lazyPlan.plan
    let sql = plan.selection(
      of: entityPlan.columnList, from: entityPlan, limit: descriptor.fetchLimit,
      offset: descriptor.fetchOffset
    ).sql
    return plan.isExact ? sql : sql + " -- and a check in memory"
  }
}
