import Foundation
import SteadFormats

/// The content of a JSON store's file.
///
/// It is written as a change of the file's JSON: objects that were not saved keep members that this program's models do
/// not know.
struct JSONStoreDocument {
  /// The version of the form that this code writes.
  static let formatVersion = 1

  /// The version alone, which is read before anything else of the file.
  struct Version: Decodable {
    let version: Int
  }

  private struct Content: Decodable {
    let identifier: String
    let snapshots: [DefaultSnapshot]
  }

  /// One object of the file, which is written as the file's own JSON unless it was saved.
  private struct Object {
    var snapshot: DefaultSnapshot
    /// Its index in the file; nil if the whole object is to be written.
    let index: Int?
    /// The properties that the file lacks, and that got a value of their own here.
    var added: [String] = []

    /// The object as it is written. An unchanged one is the file's own JSON.
    func json(in stored: [JSONValue]) throws -> JSONValue {
      let index = index.flatMap { stored.indices.contains($0) ? $0 : nil }
      // The file's own JSON, not the snapshot encoded again: members that no property takes would be lost.
      if let index, added.isEmpty { return stored[index] }
      let json = try SnapshotCoding.json(of: snapshot)
      guard let new = JSONReader.value(of: json)?.object else {
        throw SwiftDataError(
          .modelValidationFailure,
          "A value of an object of \(snapshot.persistentIdentifier.entityName) is nested too deeply for a JSON file. Save one with "
            + "fewer levels.")
      }
      guard let index, let old = stored[index].object else { return .object(new) }
      // Only what was added, so that the rest of an object that nobody has saved stays as another version of the app
      // wrote it.
      return .object(old.merging(new.filter { added.contains($0.key) }) { $1 })
    }
  }

  /// The store's identifier, as the objects' identifiers have it.
  let identifier: String
  private var objects: [Object] = []

  var snapshots: [DefaultSnapshot] { objects.map(\.snapshot) }
  /// Whether objects got values that the file lacks.
  var isCompleted: Bool { objects.contains { !$0.added.isEmpty } }

  init(identifier: String) { self.identifier = identifier }

  /// Decodes a file with the classes of a schema.
  init(_ data: Data, _ schema: Schema) throws {
    let content = try SnapshotCoding.decoder(for: schema).decode(Content.self, from: data)
    identifier = content.identifier
    objects = content.snapshots.enumerated().map { Object(snapshot: $1, index: $0) }
  }

  /// Adds values of properties that the file lacks, where each object gets one of its own.
  mutating func complete(in schema: Schema) {
    let defaults = PropertyDefaults()
    for index in objects.indices {
      objects[index].added = objects[index].snapshot.complete(from: defaults, in: schema)
    }
  }

  /// Applies the changes of a save: updates and deletions of the objects that the file has, then the new objects at the
  /// end.
  mutating func apply(
    inserted: [DefaultSnapshot], updated: [DefaultSnapshot], deleted: Set<PersistentIdentifier>
  ) {
    var indices: [PersistentIdentifier: Int] = [:]
    for (index, object) in objects.enumerated() {
      indices[object.snapshot.persistentIdentifier] = index
    }
    for snapshot in updated {
      // What another process has deleted in the meantime stays deleted.
      if let index = indices[snapshot.persistentIdentifier] {
        objects[index] = Object(snapshot: snapshot, index: nil)
      }
    }
    // After the updates, which find objects by their places.
    if !deleted.isEmpty {
      objects.removeAll { deleted.contains($0.snapshot.persistentIdentifier) }
    }
    objects += inserted.map { Object(snapshot: $0, index: nil) }
  }

  /// The file that this document was decoded from, with its changes; a new file if there is none.
  ///
  /// Costs time in proportion to the whole file, however few objects have changed.
  func encoded(over data: Data?) throws -> Data {
    var file = try data.flatMap { try Self.json(in: $0)?.object } ?? [:]
    // By place, as the objects were decoded: this must be the data that the document was made of.
    let stored = file["snapshots"]?.array ?? []
    file["version"] = .number("\(Self.formatVersion)")
    file["identifier"] = .string(identifier)
    file["snapshots"] = .array(try objects.map { try $0.json(in: stored) })
    return JSONValue.object(file).indentedData
  }

  /// The file's JSON as a tree. Nil, or an error of Foundation's, if it is no JSON.
  private static func json(in data: Data) throws -> JSONValue? {
    if let value = JSONReader.value(of: data) { return value }
    // UTF-16 and a byte order mark, which an editor may have written, are what only Foundation reads.
    let tree = try SnapshotCoding.decoder.decode(SnapshotTree.self, from: data)
    return JSONReader.value(of: try SnapshotCoding.json(of: tree))
  }
}
