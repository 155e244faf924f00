public import Foundation
import SteadFiles

/// Describes a store that keeps its objects in a JSON file.
///
/// ```swift
/// let container = try ModelContainer(
///   for: Trip.self, configurations: JSONStoreConfiguration(url: url))
/// ```
public struct JSONStoreConfiguration: DataStoreConfiguration, Sendable {
  public typealias Store = JSONStore

  /// The store's name, by default the file's name without its extension.
  public let name: String
  /// The models of the store; a container sets it to its own if it is nil.
  public var schema: Schema?
  /// The file, in an existing directory. Unlike a SQLite store's, its directory is not made.
  public let url: URL

  /// Creates a configuration of a store in a file. Touches no file.
  ///
  /// - Parameters:
  ///   - name: The store's name; the file's without its extension if it is nil.
  ///   - schema: The models; the container's if it is nil.
  ///   - url: The file. It is created when a container opens it.
  public init(_ name: String? = nil, schema: Schema? = nil, url: URL) {
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.schema = schema
    self.url = url
  }
}

// MARK: - Store

/// A store that keeps its objects in a JSON file, for documents and exports of some thousand objects.
///
/// Open it with a ``JSONStoreConfiguration``. It has no history, no indexes, and no migration plan.
///
/// Each save writes the whole file, durably, and replaces the old one: a crash leaves one or the other. A fetch reads
/// the file, decodes it if any program has changed it, and leaves filtering and sorting to the context. Saves of
/// several processes are merged, object by object, and each is checked against what the file has when it is replaced.
///
/// If the file isn't such a store, was written by a later version, or has objects of models that the schema lacks,
/// every call throws and leaves it as it is. A property that the file lacks gets its default value or nil, and one that
/// is made for each object, such as a `UUID()`, is added to the file at once. Data that the models lack stays in the
/// file until its object is saved. A value that its type does not read stays, too, and makes its object unreadable.
/// Documentation/CustomStores.md describes the format.
public final class JSONStore: DataStore, DataStoreVersioning {
  public typealias Configuration = JSONStoreConfiguration
  public typealias Snapshot = DefaultSnapshot
  /// The file's bytes.
  public typealias Version = Data

  /// The configuration that the store was opened with.
  public let configuration: JSONStoreConfiguration
  /// The configuration's schema.
  public let schema: Schema
  /// The identifier that the file records.
  public let identifier: String
  private let file: AtomicFile
  /// The last read content of the file.
  private var cached: Cached?

  /// A content of the file, decoded.
  ///
  /// Not locked: the container calls a store from one thread at a time.
  private struct Cached {
    let data: Data
    let document: JSONStoreDocument
    /// Whether what the file lacks could not be added to it.
    var isRefused = false
  }

  /// Opens the store, and creates the file if it does not exist.
  ///
  /// - Throws: ``SwiftDataError/unknownSchema`` if there is a migration plan, which this store cannot follow, or if the
  ///   file was written by a later version of this library; ``SwiftDataError/unreadableStore`` if it is not a JSON
  ///   store; ``SwiftDataError/unknownModel`` if it has objects of a model that the schema lacks;
  ///   ``SwiftDataError/configurationSchemaNotFoundInContainerSchema`` without a schema; and `FileError` if it cannot
  ///   be read or created.
  public init(
    _ configuration: JSONStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    if migrationPlan != nil {
      throw SwiftDataError(
        .unknownSchema,
        "A JSON store cannot follow a migration plan. Open it without one; new properties get their default "
          + "values.")
    }
    guard let schema = configuration.schema else {
      throw SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema,
        "The configuration \(configuration.name) has no schema. Give it one.")
    }
    self.configuration = configuration
    self.schema = schema
    file = AtomicFile(configuration.url)
    // Written immediately, so that all processes which open it get the same identifier.
    let data = try file.update { data in
      // nil leaves a file that exists as it is.
      guard data == nil else { return nil }
      return try JSONStoreDocument(identifier: UUID().uuidString).encoded(over: nil)
    }
    identifier = try Self.document(in: data ?? Data(), configuration.url, schema).identifier
    // Now, so that values made for an object are in the file before anything is fetched from it.
    _ = try completedDocument(in: data)
  }

  // MARK: The file

  /// Decodes a file's bytes. The version is read first: a later one may not decode as this one, and the error has to
  /// name that and not damage.
  private static func document(
    in data: Data, _ url: URL, _ schema: Schema
  ) throws -> JSONStoreDocument {
    do {
      let version = try SnapshotCoding.decoder.decode(JSONStoreDocument.Version.self, from: data)
      guard version.version <= JSONStoreDocument.formatVersion else {
        throw SwiftDataError(
          .unknownSchema,
          "\(url.path) was written by a later version of this library (form \(version.version)). Update the "
            + "library; the file was left as it is.")
      }
      return try JSONStoreDocument(data, schema)
    } catch let error as SwiftDataError {
      throw error
    } catch {
      throw SwiftDataError(
        .unreadableStore,
        "\(url.path) is not a JSON store, or is damaged. It was left as it is; repair it, or give the store a "
          + "separate file.", cause: error)
    }
  }

  /// The document of the file's bytes; decoded only if they differ from the last ones.
  private func document(in data: Data?) throws -> JSONStoreDocument {
    guard let data else { return JSONStoreDocument(identifier: identifier) }
    if let cached, cached.data == data { return cached.document }
    var document = try Self.document(in: data, configuration.url, schema)
    guard document.identifier == identifier else {
      throw SwiftDataError(
        .unreadableStore,
        "\(configuration.url.path) was replaced by another store. Open it again with a new container."
      )
    }
    for snapshot in document.snapshots {
      let name = snapshot.persistentIdentifier.entityName
      guard schema.entitiesByName[name] == nil else { continue }
      throw SwiftDataError(
        .unknownModel,
        "\(configuration.url.path) has objects of \(name), which the schema lacks. Add the model to the schema; "
          + "the file was left as it is.")
    }
    document.complete(in: schema)
    cached = Cached(data: data, document: document)
    return document
  }

  /// The objects in the file, after values that were made for an object are in it, so that every process has the same.
  private func completedDocument(in data: Data?) throws -> JSONStoreDocument {
    let document = try document(in: data)
    guard document.isCompleted, cached?.isRefused != true else { return document }
    do {
      // Read again within the update: another process may have completed or changed the file since.
      let written = try file.update { data in
        let document = try self.document(in: data)
        return document.isCompleted ? try document.encoded(over: data) : nil
      }
      return try self.document(in: written)
    } catch {
      // A disk that cannot be written now keeps no object from being read, and isn't tried at each fetch.
      cached?.isRefused = true
      return document
    }
  }

  // MARK: Fetching

  /// All objects of the class, within limit and offset, in the file's order: the order of their first saves.
  ///
  /// Reads the file, and decodes it if it has changed since the last call.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` and ``DataStoreError/preferInMemorySort`` for a request with a
  ///   predicate or an order, which the context then handles; ``SwiftDataError/unreadableStore`` if the file was
  ///   damaged or replaced.
  public func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
    let descriptor = request.descriptor
    if descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    let name = Schema.entityName(for: T.self)
    let found = try completedDocument(in: file.readIfPresent()).snapshots.filter {
      $0.persistentIdentifier.entityName == name
    }.dropFirst(descriptor.fetchOffset ?? 0)
    return DataStoreFetchResult(
      descriptor: descriptor,
      fetchedSnapshots: Array(descriptor.fetchLimit.map { found.prefix($0) } ?? found))
  }

  // MARK: Saving

  /// Applies the changes to the file's present content, and replaces the file durably.
  ///
  /// A new object gets a UUID as its primary key. An object that another process has deleted stays deleted.
  ///
  /// A conflict with another process is resolved here, not reported: the changes are applied to what that one wrote,
  /// object by object.
  ///
  /// - Throws: ``SwiftDataError/unreadableStore`` if the file was damaged or replaced,
  ///   ``SwiftDataError/modelValidationFailure`` for a value that is nested too deeply for JSON, and `FileError` if the
  ///   file cannot be written. The file is unchanged then.
  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    let changes = try Changes(request, identifier)
    // Compare and swap: the closure runs again if another process has written since.
    try file.update { try changed($0, by: changes) }
    return changes.result
  }

  /// The file's bytes; empty if it does not exist. They are compared as a whole, so other programs that edit the file
  /// need not count versions.
  public func version() throws -> Data {
    guard let data = try file.readIfPresent() else { return Data() }
    _ = try completedDocument(in: data)
    // Completing the document may have written the file, and a save compares with what the file has now.
    return cached?.data ?? data
  }

  /// Applies the changes if the file still has these bytes, and replaces it durably; otherwise nil.
  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, at version: Data
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot>? {
    let changes = try Changes(request, identifier)
    // An empty version stands for a missing file (`version()`).
    let data = version.isEmpty ? nil : version
    do {
      try file.replace(data, with: changed(data, by: changes))
    } catch let error as FileError where error.code == .changed {
      return nil
    }
    return changes.result
  }

  /// The file's bytes with the changes of a save. Writes nothing.
  private func changed(_ data: Data?, by changes: Changes) throws -> Data {
    var document = try document(in: data)
    document.apply(
      inserted: changes.inserted, updated: changes.updated, deleted: changes.deleted)
    return try document.encoded(over: data)
  }

  /// Removes all objects from the file, but keeps the file.
  ///
  /// - Throws: What ``save(_:)`` throws.
  public func erase() throws {
    try file.update { data in
      // Throws for a file of another store or a later version, which must not be overwritten.
      _ = try self.document(in: data)
      return try JSONStoreDocument(identifier: identifier).encoded(over: nil)
    }
  }
}

/// The changes of a save, with the identifiers that they have in the file.
private struct Changes {
  let inserted: [DefaultSnapshot]
  let updated: [DefaultSnapshot]
  let deleted: Set<PersistentIdentifier>
  let result: DataStoreSaveChangesResult<DefaultSnapshot>

  /// Gives the new objects their keys. They are made once for a save and not for each attempt: the file is compared and
  /// written again if another process was faster, and the result has to name the keys that are in it.
  init(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, _ identifier: String
  ) throws {
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    // All keys before the first copy: new objects refer to each other.
    for snapshot in request.inserted {
      let temporary = snapshot.persistentIdentifier
      remapped[temporary] = try .identifier(
        for: identifier, entityName: temporary.entityName, primaryKey: UUID().uuidString)
    }
    inserted = request.inserted.map { [remapped] snapshot in
      let temporary = snapshot.persistentIdentifier
      return snapshot.copy(
        persistentIdentifier: remapped[temporary] ?? temporary, remappedIdentifiers: remapped)
    }
    updated = request.updated.map { [remapped] in
      $0.copy(persistentIdentifier: $0.persistentIdentifier, remappedIdentifiers: remapped)
    }
    deleted = Set(request.deleted.map(\.persistentIdentifier))
    result = DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
  }
}
