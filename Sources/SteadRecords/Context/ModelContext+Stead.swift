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

// MARK: - Search

/// One object that a full-text search found.
public struct SearchResult<Model: PersistentModel> {
  /// The object, which belongs to the context that searched.
  public let model: Model
  /// How well the object matches: smaller is better (BM25 of SQLite's FTS5).
  public let rank: Double
  /// An excerpt of the matching text, of at most 12 words, with the words that match in brackets.
  public let snippet: String
}

extension ModelContext {
  /// The greatest number of words around a match in a snippet.
  static var snippetWords: Int { 12 }

  /// The saved objects whose `.spotlight` properties contain all words of a string, best match first.
  ///
  /// Case and diacritics do not matter. A word that ends in `*` matches all words with that prefix; the last word
  /// always does if `matchesPrefix` is true. Unsaved changes are not searched.
  ///
  /// ```swift
  /// for result in try context.search(Note.self, for: "water pla", matchesPrefix: true) {
  ///   print(result.model.title, result.snippet)
  /// }
  /// ```
  ///
  /// Uses SQLite's FTS5, and reads the store on this thread. Costs time in proportion to the number of matches, also
  /// beyond `limit`, since all are ranked. An empty string finds nothing.
  ///
  /// - Parameters:
  ///   - type: The class to search.
  ///   - text: Words; quotes and other operators of FTS5 have no meaning.
  ///   - matchesPrefix: Whether the last word is the beginning of one, as while the user types.
  ///   - limit: The maximum number of results.
  /// - Throws: ``SwiftDataError/unsupportedPredicate`` if the model has no `.spotlight` property, or is not in the
  ///   container's schema; otherwise what ``fetch(_:)`` throws.
  @_disfavoredOverload
  public func search<T: PersistentModel>(
    _ type: T.Type, for text: String, matchesPrefix: Bool = false, limit: Int = 50
  ) throws -> [SearchResult<T>] {
    try FetchRunner(linkedGraph()).search(
      type, SearchQuery(text, matchesPrefix: matchesPrefix), limit: limit)
  }
}

/// A query string for FTS5: all words are quoted, so that none is an operator.
private struct SearchQuery {
  let match: String

  init(_ text: String, matchesPrefix: Bool) {
    let words = text.split(whereSeparator: \.isWhitespace)
    match = words.enumerated().map { place, word in
      let isPrefix = word.hasSuffix("*") || (matchesPrefix && place == words.count - 1)
      // Within quotes only a quote has a meaning, and `*` only behind them (https://sqlite.org/fts5.html, FTS5
      // Strings).
      let plain = word.filter { $0 != "*" && $0 != "\"" && $0 != "\0" }
      return plain.isEmpty ? "" : "\"\(plain)\"\(isPrefix ? "*" : "")"
    }.filter { !$0.isEmpty }.joined(separator: " ")
  }
}

extension FetchRunner {
  fileprivate func search<T: PersistentModel>(
    _ type: T.Type, _ query: SearchQuery, limit: Int
  ) throws -> [SearchResult<T>] {
    guard let entity = graph.layout.entity(for: T.self), !entity.searchable.isEmpty else {
      throw SwiftDataError(
        .unsupportedPredicate,
        "\(T.self) has no searchable properties. Mark the properties with @Attribute(.spotlight).")
    }
    guard !query.match.isEmpty else { return [] }
    // A custom store's objects are searched in its mirror, which must have all of them first.
    try mirror(entity)
    let plan = graph.entities[entity.index].lazyPlan.plan
    let sql = SearchTable(entity: entity).selection(from: plan, words: ModelContext.snippetWords)
    return try graph.commits.readNewest(of: graph.entities[entity.index].storeIndex) { connection in
      let statement = try connection.statement(sql)
      statement.reset()
      statement.bind([.text(query.match), .integer(Int64(limit))])
      defer { statement.reset() }
      // The rank and the snippet are behind the table's columns (`SearchTable.selection`).
      let last = Int32(plan.prefix + plan.tableLayout.columns.count)
      var results: [SearchResult<T>] = []
      while try statement.step() {
        // Before the object is made, since making it may read more with this connection.
        let (rank, snippet) = (statement.value(last), statement.text(last + 1))
        guard let model = try graph.loader.makeObject(plan, statement) as? T,
          case .real(let rank) = rank
        else { continue }
        results.append(SearchResult(model: model, rank: rank, snippet: snippet))
      }
      return results
    }
  }
}
