public import Foundation
public import SteadRecords

/// Imports the rows of a store that Apple's Core Data or SwiftData wrote into a container.
///
/// ```swift
/// let library = try ModelContainer(for: Book.self, Author.self)
/// let report = try CoreDataImport(from: oldLibrary, to: library).run()
/// print(report)
/// ```
///
/// Entities go to the classes of the same name, attributes and relationships to the properties of
/// the same name, whatever their case; ``CoreDataMapping`` names the exceptions. Values without a
/// property, and values that don't fit their property, prevent everything from being written,
/// unless the mapping allows them.
///
/// The store is only read: it is copied with its `-wal`, and SQLite opens the copy. A second run
/// imports rows that were added since, and none twice; a row that was changed since stays as it was
/// imported. It needs disk space for the copy, and memory for all values.
///
/// Documentation/CoreDataImport.md describes the file's layout, and which parts of it were seen in
/// real stores.
public struct CoreDataImport: Sendable {
  /// The store's file, the one that has a `-wal` next to it: `default.store`, `Model.sqlite`.
  public let url: URL
  /// The destination. It must have one store.
  public let container: ModelContainer
  /// Which entities and classes belong together although their names differ, and what is left out.
  public let mapping: CoreDataMapping
  /// Whether rows are imported if others can't be. References to those become nil.
  ///
  /// Otherwise one row that doesn't fit prevents all from being written.
  public let acceptsPartial: Bool
  /// The name of the transfer, under which the container keeps its receipt.
  ///
  /// Nil for a name made of the store's UUID, so that a copy of the store is recognized, too.
  public let id: String?

  /// Makes an import. Nothing is read or written until it runs.
  public init(
    from url: URL, to container: ModelContainer, mapping: CoreDataMapping = CoreDataMapping(),
    acceptsPartial: Bool = false, id: String? = nil
  ) {
    self.url = url
    self.container = container
    self.mapping = mapping
    self.acceptsPartial = acceptsPartial
    self.id = id
  }

  /// Imports all rows that haven't been imported.
  ///
  /// Everything is written in one transaction. If the store's files are as they were when all rows
  /// had been imported, they are not read; the report then has the numbers of
  /// ``CoreDataReport/transfer`` and no others.
  ///
  /// - Parameter progress: Called for each row in each phase, on this thread. An error that it
  ///   throws stops the run.
  /// - Returns: What the store has, and what became of it.
  /// - Throws: ``TransferError``: ``TransferError/Code/unreadable`` if the file isn't such a store
  ///   or is damaged; ``TransferError/Code/unsupported`` if values would be left out that the
  ///   mapping doesn't name; ``TransferError/Code/notConverted`` with each row that doesn't fit;
  ///   and as ``Transfer/run(_:)``.
  @discardableResult
  public func run(
    _ progress: @escaping TransferProgress.Report = { _ in }
  ) throws -> CoreDataReport {
    try reported { try $0.run(progress) }
  }

  /// Runs the import off the caller's actor; otherwise as ``run(_:)``.
  ///
  /// Occupies one thread of the cooperative pool until it finishes.
  @concurrent
  @discardableResult
  public func runInBackground(
    _ progress: @escaping @Sendable (TransferProgress) throws -> Void = { _ in }
  ) async throws -> CoreDataReport {
    try run(progress)
  }

  /// Reports what ``run(_:)`` would do. Reads and converts, and changes nothing.
  ///
  /// Rows that don't fit are among the failures of ``CoreDataReport/transfer``, with the reasons,
  /// which the report's description lists, too.
  public func preview(
    _ progress: @escaping TransferProgress.Report = { _ in }
  ) throws -> CoreDataReport {
    try reported { try $0.preview(progress) }
  }

  /// Makes the transfer, runs a body with it, and joins the reports of both.
  private func reported(
    _ body: (Transfer<StoredRow, StoredRow>) throws -> TransferReport
  ) throws -> CoreDataReport {
    // Made for each run, so that a report has what this run found.
    let source = try CoreDataSource(url, schema: container.schema, mapping: mapping)
    // The UUID names the transfer, so that a copy of the store isn't imported again.
    let identifier = try id == nil ? source.identifier() : ""
    let name = id ?? "Core Data \(identifier)"
    var options = StoreDestination.Options()
    // Otherwise the rows that lead to a failed one would fail, too.
    options.dropsMissingDestinations = acceptsPartial
    let transfer = Transfer(
      name, from: TransferSource(source),
      to: TransferDestination(StoreDestination(container, options: options)),
      options: TransferOptions(acceptsPartial: acceptsPartial))
    let figures = try body(transfer)
    var report = source.report ?? CoreDataReport()
    // An unchanged store isn't read, so the reader has reported nothing.
    if report.storeIdentifier.isEmpty { report.storeIdentifier = identifier }
    report.transfer = figures
    return report
  }
}

// MARK: - Mapping

/// Maps entities to classes and attributes to properties whose names differ.
///
/// ```swift
/// var mapping = CoreDataMapping()
/// mapping.classes["Autor"] = "Author"
/// mapping.storedNames["Author"] = ["name": "vollerName"]
/// mapping.leftOut["Author"] = ["cachedPageCount"]
/// ```
///
/// What it doesn't name is matched as in a migration: by the renaming identifiers of the store's
/// model, by the `originalName` of properties and of classes that conform to `RenamedModel`, and by
/// name. Names that differ only in case match if no other name does.
public struct CoreDataMapping: Sendable, Hashable {
  /// The class of an entity, by the entity's name in the store.
  public var classes: [String: String]
  /// For each class, the names in the store by the names of its properties.
  ///
  /// A field of a Codable struct is written `"property.field"`.
  public var storedNames: [String: [String: String]]
  /// The entities that are not imported. Relationships to their rows become nil.
  public var leftOutEntities: Set<String>
  /// For each class, the names in the store of the attributes and relationships that are not
  /// imported.
  public var leftOut: [String: Set<String>]
  /// Whether values without a property are left out and only reported.
  ///
  /// Otherwise an import throws before anything is written if a column without a property has
  /// values.
  public var leavesOutUnknown: Bool
  /// For each class and property, whether the attribute allows external storage in the store's
  /// model.
  ///
  /// Needed only if the store doesn't show it; the import then throws an error that asks for it.
  public var externalStorage: [String: [String: Bool]]

  /// Whether NULL in a property that isn't optional becomes the property's default value, and is
  /// only reported.
  ///
  /// Otherwise an import throws before anything is written. All these rows get the same value,
  /// except for UUIDs: each row gets its own.
  public var acceptsDefaults: Bool

  /// Makes a mapping by names alone.
  public init() {
    classes = [:]
    storedNames = [:]
    leftOutEntities = []
    leftOut = [:]
    leavesOutUnknown = false
    externalStorage = [:]
    acceptsDefaults = false
  }

  /// The name in the store that the mapping has for a property.
  func storedName(_ property: String, of className: String) -> String? {
    storedNames[className]?[property]
  }

  /// Whether a column, with or without its `Z`, is left out.
  func isLeftOut(_ column: String, of className: String) -> Bool {
    leftOut[className, default: []].contains { name in
      let name = name.uppercased()
      return column == "Z\(name)" || column == name
    }
  }
}

// MARK: - Report

/// What an import found in a store, and what became of it.
///
/// Its description has a line for each entity, for each kind of thing that was left out, and for the
/// first ``TransferError/describedFailureLimit`` rows that don't fit, with the reason.
public struct CoreDataReport: Sendable {
  /// The number of rows of an entity.
  public struct EntityRows: Sendable, Hashable {
    /// The entity's name in the store.
    public var entity: String
    /// The class that takes the rows; nil for an entity that is left out.
    public var className: String?
    /// The number of rows.
    public var rows: Int

    /// Rows of an entity.
    public init(entity: String, className: String?, rows: Int) {
      self.entity = entity
      self.className = className
      self.rows = rows
    }
  }

  /// The rows that were imported, or would be.
  public internal(set) var transfer = TransferReport()
  /// The store's UUID, from its `Z_METADATA`.
  public internal(set) var storeIdentifier = ""
  /// The entities of the store's model that have rows or a class, ordered by name.
  public internal(set) var entities: [EntityRows] = []
  /// The number of links of each relationship, by `Class.property`.
  public internal(set) var links: [String: Int] = [:]
  /// The number of links to rows that are not in the store, by `Class.property`. They become nil.
  public internal(set) var danglingLinks: [String: Int] = [:]
  /// The number of links to rows of entities that are left out, by `Class.property`. They become
  /// nil.
  public internal(set) var leftOutLinks: [String: Int] = [:]
  /// Properties that the store has nothing for, as `Class.property`. They get their default values.
  public internal(set) var missingProperties: [String] = []
  /// How often NULL became the default of a property that isn't optional, by `Class.property`.
  public internal(set) var defaultedValues: [String: Int] = [:]
  /// Possible losses of the store's files, such as a missing write-ahead log, each as a sentence.
  public internal(set) var warnings: [String] = []
  /// The number of values without a property, by column as `Entity.COLUMN`, or by join table.
  public internal(set) var leftOutValues: [String: Int] = [:]
  /// The number of archives of objects that were imported as bytes, by `Class.property`.
  public internal(set) var archives: [String: Int] = [:]
  /// The number of rows in the tables of Core Data itself, such as its history. They are not
  /// imported.
  public internal(set) var skippedTables: [String: Int] = [:]

  init() {}
}

extension CoreDataReport: CustomStringConvertible {
  /// The numbers, with a line for each entity, for each kind of thing that was left out, and for the
  /// first rows that don't fit.
  public var description: String {
    var lines = ["\(transfer)"]
    for entity in entities {
      lines.append("\(entity.entity) -> \(entity.className ?? "left out"): \(entity.rows)")
    }
    let parts: [(String, [String: Int])] = [
      ("not in the store", danglingLinks), ("left out with their rows", leftOutLinks),
      ("given their defaults", defaultedValues), ("left out", leftOutValues),
      ("taken as archives", archives),
      ("of Core Data itself", skippedTables),
    ]
    for (title, figures) in parts where !figures.isEmpty {
      let listed = figures.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      lines.append("\(title): \(listed.joined(separator: ", "))")
    }
    if !missingProperties.isEmpty {
      lines.append("not in the store: \(missingProperties.joined(separator: ", "))")
    }
    lines += failureLines
    lines += warnings.map { "warning: \($0)" }
    return lines.joined(separator: "\n")
  }

  /// The rows that don't fit, each with the reason.
  private var failureLines: [String] {
    let listed = transfer.failures.prefix(TransferError.describedFailureLimit)
    let rest = transfer.failures.count - listed.count
    return listed.map { "not imported: \($0)" } + (rest > 0 ? ["not imported: \(rest) more"] : [])
  }
}
