import Foundation
import SteadFiles

/// A store that keeps its objects in a JSON file, for documents and exports of some thousand objects.
///
/// Each save writes the whole file, durably, and replaces the old one: a crash leaves one or the other. A fetch reads
/// the file, decodes it if any program has changed it, and leaves filtering and sorting to the context. Saves of
/// several processes are merged, object by object.
///
/// If the file isn't such a store, was written by a later version, or has objects of models that the schema lacks,
/// every call throws and leaves it as it is. A property that the file lacks gets its default value or nil, and one that is
/// made for each object, such as a `UUID()`, is written at once; data in the file that the models lack is dropped by the
/// next save. A value that its type does not read stays in the file, and makes its object unreadable.
/// Documentation/CustomStores.md describes the format.
public final class JSONStore: DataStore {
  public typealias Configuration = JSONStoreConfiguration
  public typealias Snapshot = DefaultSnapshot

  /// The version of the form that this code writes.
  static let formatVersion = 1

  public let configuration: JSONStoreConfiguration
  public let schema: Schema
  public let identifier: String
  private let file: AtomicFile
  /// The last read bytes of the file, and their content.
  private var known: (data: Data, document: JSONStoreDocument)?

  /// Opens the store, and creates the file if it does not exist.
  ///
  /// Throws if the file is not a JSON store, or if there is a migration plan, which this store cannot follow.
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
    // Created immediately, so that everyone who opens it gets the same identifier.
    let data = try file.update { data in
      try data ?? JSONStoreDocument(identifier: UUID().uuidString).encoded()
    }
    identifier = try Self.document(in: data ?? Data(), configuration.url).identifier
    _ = try completedDocument(in: data)
  }

  // MARK: The file

  private static func document(in data: Data, _ url: URL) throws -> JSONStoreDocument {
    do {
      let version = try JSONStoreDocument.decoder.decode(JSONStoreDocument.Version.self, from: data)
      guard version.version <= formatVersion else {
        throw SwiftDataError(
          .unknownSchema,
          "\(url.path) was written by a later version of this library (form \(version.version)). Update the "
            + "library; the file was left as it is.")
      }
      return try JSONStoreDocument.decoder.decode(JSONStoreDocument.self, from: data)
    } catch let error as SwiftDataError {
      throw error
    } catch {
      throw SwiftDataError(
        .unreadableStore,
        "\(url.path) is not a JSON store, or is damaged. It was left as it is; repair it, or give the store a "
          + "separate file.", cause: error)
    }
  }

  private func document(in data: Data?) throws -> JSONStoreDocument {
    guard let data else { return JSONStoreDocument(identifier: identifier) }
    if let known, known.data == data { return known.document }
    var document = try Self.document(in: data, configuration.url)
    guard document.identifier == identifier else {
      throw SwiftDataError(
        .unreadableStore,
        "\(configuration.url.path) was replaced by another store. Open it again with a new container."
      )
    }
    document.complete()
    for snapshot in document.snapshots {
      let name = snapshot.persistentIdentifier.entityName
      guard schema.entitiesByName[name] == nil else { continue }
      throw SwiftDataError(
        .unknownModel,
        "\(configuration.url.path) has objects of \(name), which the schema lacks. Add the model to the schema; "
          + "the file was left as it is.")
    }
    known = (data, document)
    return document
  }

  /// The objects in the file, after values that were made for an object are in it, so that every process has the same.
  private func completedDocument(in data: Data?) throws -> JSONStoreDocument {
    let document = try document(in: data)
    guard document.isCompleted else { return document }
    // A disk that cannot be written now keeps no object from being read.
    let written = try? file.update { data in
      let document = try self.document(in: data)
      return document.isCompleted ? try document.encoded() : nil
    }
    return try written.map { try self.document(in: $0) } ?? document
  }

  // MARK: Fetching

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

  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      let temporary = snapshot.persistentIdentifier
      remapped[temporary] = try .identifier(
        for: identifier, entityName: temporary.entityName, primaryKey: UUID().uuidString)
    }
    let inserted = request.inserted.map { snapshot in
      let temporary = snapshot.persistentIdentifier
      return snapshot.copy(
        persistentIdentifier: remapped[temporary] ?? temporary, remappedIdentifiers: remapped)
    }
    let updated = request.updated.map {
      $0.copy(persistentIdentifier: $0.persistentIdentifier, remappedIdentifiers: remapped)
    }
    let deleted = request.deleted.map(\.persistentIdentifier)
    // Repeated if another process wrote first.
    try file.update { data in
      var document = try self.document(in: data)
      document.apply(inserted: inserted, updated: updated, deleted: Set(deleted))
      return try document.encoded()
    }
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
  }

  /// Removes all objects from the file, but keeps the file.
  public func erase() throws {
    try file.update { data in
      _ = try self.document(in: data)
      return try JSONStoreDocument(identifier: identifier).encoded()
    }
  }
}

/// What the file of a JSON store holds.
private struct JSONStoreDocument: Codable {
  struct Version: Decodable {
    let version: Int
  }

  var version = JSONStore.formatVersion
  /// The store's identifier, as the objects' identifiers have it.
  let identifier: String
  var snapshots: [DefaultSnapshot] = []
  /// Whether values that the file lacks were made.
  private(set) var isCompleted = false

  private enum CodingKeys: CodingKey { case version, identifier, snapshots }

  init(identifier: String, snapshots: [DefaultSnapshot] = []) {
    self.identifier = identifier
    self.snapshots = snapshots
  }

  mutating func complete() {
    let defaults = PropertyDefaults()
    for index in snapshots.indices where snapshots[index].complete(from: defaults) {
      isCompleted = true
    }
  }

  mutating func apply(
    inserted: [DefaultSnapshot], updated: [DefaultSnapshot], deleted: Set<PersistentIdentifier>
  ) {
    var places: [PersistentIdentifier: Int] = [:]
    for (place, snapshot) in snapshots.enumerated() {
      places[snapshot.persistentIdentifier] = place
    }
    for snapshot in updated {
      // What another process has deleted in the meantime stays deleted.
      if let place = places[snapshot.persistentIdentifier] { snapshots[place] = snapshot }
    }
    if !deleted.isEmpty { snapshots.removeAll { deleted.contains($0.persistentIdentifier) } }
    snapshots += inserted
  }

  static var decoder: JSONDecoder { SnapshotCoding.decoder }

  func encoded() throws -> Data {
    let encoder = SnapshotCoding.encoder
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }
}
