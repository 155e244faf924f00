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
