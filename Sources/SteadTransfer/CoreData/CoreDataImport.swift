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
/// Entities go to the classes of the same name, attributes and relationships to the properties of the
/// same name, whatever their case; ``CoreDataMapping`` names the exceptions. Values without a property, and
/// values that do not fit their property, prevent everything from being written, unless the mapping allows them.
///
/// The store is only read: it is copied with its `-wal`, and the copy is opened. A second run moves rows that were
/// added since, and none twice; a row that was changed since stays as it was imported.
/// Documentation/CoreDataImport.md describes the layout, and which parts of it were seen in real stores.
public struct CoreDataImport: Sendable {
  /// The store, the file that has the `-wal` next to it: `default.store`, `Model.sqlite`.
  public let url: URL
  /// The destination, which has one store.
  public let container: ModelContainer
  /// Which entities and classes belong together although their names differ, and what is left out.
  public let mapping: CoreDataMapping
  /// Whether rows are imported if others cannot be; references to those others are dropped.
  ///
  /// Otherwise one row that does not fit prevents all from being written.
  public let acceptsPartial: Bool
  /// The name of the transfer, under which the container keeps its receipt; nil for one that is made of
  /// the store's UUID, so that a copy of the store is known, too.
  public let id: String?

  /// An import; nothing is read or written until it runs.
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
  /// All is written in one transaction. Needs room in the temporary directory for a copy of the store,
  /// and memory for all its values. A store whose files are as they were when all rows had been imported is
  /// not read; the report has the figures of ``CoreDataReport/transfer`` then, and no others.
  ///
  /// - Parameter progress: Called for each row in each phase, on this thread; an error that it throws stops
  ///   the run.
  /// - Throws: ``TransferError``: ``TransferError/Code/unreadable`` if the file isn't such a store, or is damaged;
  ///   ``TransferError/Code/unsupported`` if values would be left out that the mapping doesn't name;
  ///   ``TransferError/Code/notConverted`` with each row that does not fit; and as ``Transfer/run(_:)``.
  @discardableResult
  public func run(
    _ progress: @escaping TransferProgress.Report = { _ in }
  ) throws -> CoreDataReport {
    try reported { try $0.run(progress) }
  }

  /// As ``run(_:)``, off the caller's actor.
  ///
  /// Occupies one thread of the cooperative pool until it finishes.
  @concurrent
  @discardableResult
  public func runInBackground(
    _ progress: @escaping @Sendable (TransferProgress) throws -> Void = { _ in }
  ) async throws -> CoreDataReport {
    try run(progress)
  }

  /// Shows what ``run(_:)`` would do. Reads and converts, and changes nothing.
  ///
  /// Rows that do not fit are among the failures of ``CoreDataReport/transfer``.
  public func preview(
    _ progress: @escaping TransferProgress.Report = { _ in }
  ) throws -> CoreDataReport {
    try reported { try $0.preview(progress) }
  }

  private func reported(
    _ body: (Transfer<StoredRow, StoredRow>) throws -> TransferReport
  ) throws -> CoreDataReport {
    let source = try CoreDataSource(url, schema: container.schema, mapping: mapping)
    let identifier = try id == nil ? source.identifier() : ""
    let name = id ?? "Core Data \(identifier)"
    var options = StoreDestination.Options()
    options.dropsMissingDestinations = acceptsPartial
    let transfer = Transfer(
      name, from: TransferSource(source),
      to: TransferDestination(StoreDestination(container, options: options)),
      options: TransferOptions(acceptsPartial: acceptsPartial))
    let figures = try body(transfer)
    var report = source.report ?? CoreDataReport()
    if report.storeIdentifier.isEmpty { report.storeIdentifier = identifier }
    report.transfer = figures
    return report
  }
}

// MARK: - Mapping

/// Maps entities to classes and attributes to properties whose names differ.
///
/// Without it, an `originalName` decides, of properties and of classes that conform to `RenamedModel`; a name that is equal
/// but for case counts where no other one claims it. The renaming identifiers of the store's model are respected.
///
/// ```swift
/// var mapping = CoreDataMapping()
/// mapping.classes["Autor"] = "Author"
/// mapping.storedNames["Author"] = ["name": "vollerName"]
/// mapping.leftOut["Author"] = ["cachedPageCount"]
/// ```
public struct CoreDataMapping: Sendable, Hashable {
  /// The class of an entity, by the entity's name in the store.
  public var classes: [String: String]
  /// For each class, by the names of its properties, the names in the store.
  ///
  /// The field of a Codable struct is written `"property.field"`.
  public var storedNames: [String: [String: String]]
  /// The entities whose rows are not wanted, and relationships to which are left out.
  public var leftOutEntities: Set<String>
  /// For each class, the names in the store of attributes and relationships that are not wanted.
  public var leftOut: [String: Set<String>]
  /// Whether values without a property are left out and only reported.
  ///
  /// Otherwise an import throws before anything is written if a column has values and no property for them exists.
  public var leavesOutUnknown: Bool
  /// For each class and property, whether its attribute allows external storage in the store's model.
  ///
  /// Needed if the store leaves it open; the import then throws an error that asks for it.
  public var externalStorage: [String: [String: Bool]]

  /// Whether NULL in a property that isn't optional becomes the property's default value, and is only
  /// reported.
  ///
  /// Otherwise an import throws before anything is written. All these rows get one value, but for UUIDs:
  /// each row gets its own.
  public var acceptsDefaults: Bool

  /// A mapping by names alone.
  public init() {
    classes = [:]
    storedNames = [:]
    leftOutEntities = []
    leftOut = [:]
    leavesOutUnknown = false
    externalStorage = [:]
    acceptsDefaults = false
  }

  func storedName(_ property: String, of className: String) -> String? {
    storedNames[className]?[property]
  }

  func isLeftOut(_ column: String, of className: String) -> Bool {
    leftOut[className, default: []].contains { name in
      let name = name.uppercased()
      return column == "Z\(name)" || column == name
    }
  }
}

// MARK: - Report

/// The findings of an import in a store, and its results.
public struct CoreDataReport: Sendable {
  /// The rows of one entity.
  public struct EntityRows: Sendable, Hashable {
    /// The entity's name in the store.
    public var entity: String
    /// The class that takes its rows; nil for an entity that is left out.
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

  /// The rows that were moved, or would be.
  public internal(set) var transfer = TransferReport()
  /// The store's UUID, as its `Z_METADATA` has it.
  public internal(set) var storeIdentifier = ""
  /// The entities of the store's model that have rows or a class, ordered by name.
  public internal(set) var entities: [EntityRows] = []
  /// The total number of rows that each relationship refers to, by `Class.property`.
  public internal(set) var links: [String: Int] = [:]
  /// References to rows that are not in the store, by `Class.property`. They become nil.
  public internal(set) var danglingLinks: [String: Int] = [:]
  /// References to rows of entities that are left out, by `Class.property`. They become nil.
  public internal(set) var leftOutLinks: [String: Int] = [:]
  /// Properties that the store has nothing for, as `Class.property`. They get their defaults.
  public internal(set) var missingProperties: [String] = []
  /// How often NULL became the default of a property that isn't optional, by `Class.property`.
  public internal(set) var defaultedValues: [String: Int] = [:]
  /// The possible losses of the store's files, each as a sentence.
  public internal(set) var warnings: [String] = []
  /// Columns with values for which no property exists, as `Entity.COLUMN`, or tables of pairs, with the number of
  /// values.
  public internal(set) var leftOutValues: [String: Int] = [:]
  /// Archives of objects that were taken over as the bytes that they are, by `Class.property`.
  public internal(set) var archives: [String: Int] = [:]
  /// Tables of Core Data itself that were not imported, with their numbers of rows: history, caches.
  public internal(set) var skippedTables: [String: Int] = [:]

  init() {}
}

extension CoreDataReport: CustomStringConvertible {
  /// The figures, with a line for each entity and for each kind of thing that was left out.
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
    lines += warnings.map { "warning: \($0)" }
    return lines.joined(separator: "\n")
  }
}
