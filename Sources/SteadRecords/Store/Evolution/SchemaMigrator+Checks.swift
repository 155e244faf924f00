import SteadSQLite

extension SchemaMigrator {
  /// Throws if the store cannot be migrated, with everything that prevents it. Writes nothing.
  ///
  /// Rows are only looked at if the schemas alone allow the migration.
  func check() throws {
    for table in tables {
      // SQLite ignores case in names.
      let views = try connection.integer(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name = ?1 COLLATE NOCASE",
        [.text(table.name)])
      if views != 0 { throw StoreErrors.view("the view is \(table.name)") }
    }
    if match.old.version > match.new.version, !difference.isOfUnknownTypes, !isInStage {
      throw SwiftDataError.ofLaterStore(match.old.version, than: match.new.version)
    }
    // A custom stage gives rows the values that they lack.
    let refusals = difference.refusals.filter { !isInCustomStage || $0.cure != .values }
    var problems = refusals.map(\.description)
    if problems.isEmpty {
      for link in links { problems += try self.problems(of: link) }
      problems += try MigrationRows(
        connection, match, names, existing, tables, converting: conversions
      ).problems(givesValues: !isInCustomStage)
    }
    guard !problems.isEmpty else { return }
    if role == .beforeCustomStage {
      problems.append(
        "`willMigrate` has not run yet, since it reads the store with these types: have the version that it comes from use "
          + "the types as they were.")
    }
    // The error of the stage, in which this one is, says what has become of the store.
    let subject =
      isInStage
      ? "A stage of the migration plan cannot take the store to version \(match.new.version)."
      : "The store cannot be migrated to its models without a plan, and was left as it was."
    throw SwiftDataError(
      .loadIssueModelContainer, "\(subject) \(problems.joined(separator: " "))")
  }

  /// Throws if the models cannot read the values of a store that may not be written.
  func checkReading() throws {
    let problems = try MigrationRows(connection, match, names, existing, tables).problemsOfReading()
    guard !problems.isEmpty else { return }
    throw SwiftDataError(
      .loadIssueModelContainer,
      "The store was opened with allowsSave: false, and has values that its models do not read. "
        + problems.joined(separator: " "))
  }

  /// The rows that keep a relationship's pairs from moving, in sentences: a side that becomes
  /// to-one, where rows have several.
  private func problems(of link: LinkChange) throws -> [String] {
    var problems: [String] = []
    let query = query(link)
    let name = "\(link.entity.name).\(link.relationship.name)"
    func several(_ side: String) throws -> String? {
      let rows = try connection.rows(
        "SELECT \(side) FROM (\(query)) GROUP BY \(side) HAVING count(*) > 1 LIMIT \(Self.namedRowLimit)"
      ).compactMap { if case .integer(let row)? = $0.first { "\(row)" } else { nil } }
      return rows.isEmpty ? nil : rows.joined(separator: ", ")
    }
    if link.hasOneTarget, let rows = try several("owner") {
      problems.append(
        "\(name) leads to one object now, and rows lead to several: \(rows). Choose one in a custom stage of a "
          + "migration plan.")
    }
    if link.hasOneOwner, let rows = try several("target") {
      problems.append(
        "\(name) has an inverse that leads to one object, and several rows lead to the same: \(rows). Choose one in a "
          + "custom stage of a migration plan.")
    }
    return problems
  }
}

extension SwiftDataError {
  /// The error for a store that a later version of the app has written.
  static func ofLaterStore(_ stored: Schema.Version, than version: Schema.Version) -> Self {
    SwiftDataError(
      .backwardMigration,
      "The store has version \(stored), and these models are of version \(version). Open it with the app that wrote it; "
        + "it was left as it was.")
  }
}

// MARK: - Types that the store does not record

/// Finds structs that have changed since a store was written by an earlier version of this library, which recorded no
/// structures of types: an app may change a struct in the update that brings the newer library.
///
/// The program's type of the same name is then taken for the one that the values were written with, unless the store
/// shows that it isn't: it lacks a column for one of the fields, values lack a field, or none of them can be read. Values
/// that don't fit for other reasons may as well be another program's. They make their objects unreadable, and the store
/// opens.
///
/// Costs reading all values of the properties once, when such a store is first opened by this version.
struct UnrecordedTypes {
  /// It reads the store before the migration.
  let connection: StoreConnection
  /// The match whose old schema is completed.
  let match: SchemaMatch
  /// The container's models.
  let layout: StoreLayout
  /// The tables that the store should have.
  let tables: [TableLayout]
  /// The columns of each table.
  let existing: [String: [String: String]]

  /// Records another structure for each type that has changed, so that the comparison of the schemas finds it.
  func recordChanges() throws {
    lazy var fields = DerivedNames(layout, tables).generated
    for rows in MigrationRows.Table.all(match, existing, tables) {
      for case let now as Schema.Attribute in rows.new.storedProperties {
        // Only where values have a structure, and none was recorded.
        guard [.json, .composite, .opaque].contains(now.encoding), now.structure != nil,
          let before = match.oldProperty(now.name, of: rows.new.name) as? Schema.Attribute,
          before.recorded?.structure == nil, before.encoding == now.encoding,
          before.transformerName == nil
        else { continue }
        // A field's column is named after the property, which may have had another name.
        let columns = (fields[rows.new.root.name] ?? [:]).filter { $0.value == now.name }.keys
        let lacksColumn = columns.contains {
          existing[rows.name]?[before.name + $0.dropFirst(now.name.count)] == nil
        }
        let check = ValueCheck(connection, table: rows.name, only: rows.only)
        guard try lacksColumn || check.shows(anotherTypeThan: now, in: before.name) else {
          continue
        }
        // A structure that no type has, so that the comparison finds a change.
        before.recorded = RecordedForm(
          isOptional: before.isOptional, encoding: before.encoding.rawValue, structure: .named(""))
      }
    }
  }
}
