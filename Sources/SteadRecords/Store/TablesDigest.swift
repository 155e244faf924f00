import Foundation
import SteadEncoding
import Synchronization

/// A digest of everything that determines a store's tables and its recorded schema: while it is equal, opening a store
/// changes nothing in it.
///
/// Whatever is added to the tables or the recorded schema has to be added here, or `version` has to be counted up.
struct TablesDigest {
  /// Counted up whenever the library makes other tables of the same models.
  private static let version = 6

  /// The models, and the schema that is recorded.
  let layout: StoreLayout
  /// The tables of this store, in a fixed order.
  let tables: [TableLayout]
  /// The indices of the entities that this store holds.
  let entities: Set<Int>
  /// Whether triggers record the history; they name columns.
  let keepsHistory: Bool
  /// Whether tables have the earlier versions of rows.
  let keepsOldRows: Bool

  /// The words of the string. Added one by one, since interpolation makes a string of each line first, and a schema of
  /// fifty models has a thousand lines.
  private struct Words {
    var bytes: [UInt8] = []

    /// Adds a word, and a space after it.
    mutating func add(_ word: String) {
      bytes.append(contentsOf: word.utf8)
      bytes.append(UInt8(ascii: " "))
    }

    /// Adds a number, without making a string of a small one.
    mutating func add(_ number: Int) {
      // Most are indices of properties.
      if (0..<10).contains(number) {
        bytes.append(UInt8(ascii: "0") + UInt8(number))
        bytes.append(UInt8(ascii: " "))
      } else {
        add(String(number))
      }
    }

    /// Adds the structure of a type, with the number of elements before each list.
    mutating func add(_ structure: TypeStructure) {
      switch structure {
      case .named(let name): add(name)
      case .optional(let wrapped):
        add("?")
        add(wrapped)
      case .collection(let name, let parts):
        add(name)
        add(parts)
      case .raw(let value, let cases):
        add("raw")
        add(value)
        add(cases ?? [])
      case .choice(let cases, let keys):
        add("choice")
        add(keys ?? [])
        // Sorted, since a dictionary has another order in each process.
        for (name, parts) in cases.sorted(by: { $0.key < $1.key }) {
          add(name)
          add(parts)
        }
      case .fields(let fields, let keys):
        add("fields")
        add(keys ?? [])
        for (name, field) in fields.sorted(by: { $0.key < $1.key }) {
          add(name)
          add(field)
        }
      case .outer(let levels):
        add("outer")
        add(levels)
      }
    }

    /// Adds structures, with their number before them.
    private mutating func add(_ parts: [TypeStructure]) {
      add(parts.count)
      for part in parts { add(part) }
    }

    /// Adds names, with their number before them.
    private mutating func add(_ names: [String]) {
      add(names.count)
      for name in names { add(name) }
    }

    mutating func add(_ condition: Bool) { add(condition ? 1 : 0) }

    /// Adds sets of properties, with the number of each before it.
    mutating func add(_ sets: [[Int]]) {
      add(sets.count)
      for set in sets {
        add(set.count)
        for index in set { add(index) }
      }
    }

    /// Ends the words of one part.
    mutating func endLine() { bytes.append(UInt8(ascii: "\n")) }
  }

  /// The digest, in hexadecimal digits.
  var text: String {
    var words = Words()
    words.bytes.reserveCapacity(1 << 16)
    words.add(Self.version)
    words.add(Int(StorePreparation.formatVersion))
    words.add(keepsHistory)
    words.add(keepsOldRows)
    // It is recorded with the schema.
    words.add("\(layout.schema.version)")
    words.endLine()
    for table in tables {
      words.add(table.creation)
      words.endLine()
    }
    for entity in layout.entities {
      words.add(entity.name)
      words.add(entities.contains(entity.index))
      words.add(entity.table)
      words.add(entity.discriminator ?? 0)
      words.add(entity.uniqueConstraints)
      words.add(entity.indices)
      words.endLine()
      for property in entity.properties { describe(property, &words) }
    }
    // Constraints, options and the like of the schema that no table shows.
    for entity in layout.schema.entities {
      words.add(entity.name)
      words.add(entity.superentityName ?? "")
      words.add(entity.originalName ?? "")
      words.endLine()
      for property in entity.properties { describe(property, &words) }
    }
    return SHA256.hexadecimal(words.bytes)
  }

  /// Adds what the tables need of a property, besides its column.
  private func describe(_ property: PropertyLayout, _ words: inout Words) {
    words.add(property.name)
    words.add(property.originalName)
    words.add(property.isSearchable)
    if let join = property.joinTable {
      words.add(join.name)
      words.add(join.owner)
    }
    words.add(property.listColumn ?? "")
    words.endLine()
  }

  /// Adds what the recorded schema has of a property.
  private func describe(_ property: any SchemaProperty, _ words: inout Words) {
    words.add(property.name)
    words.add(property.originalName)
    words.add(property.isOptional)
    switch property {
    case let attribute as Schema.Attribute:
      words.add(ValueTypeName.name(of: attribute.valueType))
      if let structure = attribute.structure { words.add(structure) }
      for option in attribute.options {
        words.add(option.name)
        words.add(option.transformerName ?? "")
      }
      words.add(attribute.hashModifier ?? "")
    case let relationship as Schema.Relationship:
      for option in relationship.options { words.add(option.name) }
      words.add(relationship.isToOneRelationship)
      words.add(relationship.destination)
      words.add(relationship.inverseName ?? "")
      words.add(relationship.deleteRule.rawValue)
      words.add(relationship.minimumModelCount ?? 0)
      words.add(relationship.maximumModelCount ?? 0)
      words.add(relationship.hashModifier ?? "")
    default: break
    }
    words.endLine()
  }
}

// MARK: - Stored models

/// The comparison of a store's tables with the container's models: made when the store is opened, and again when
/// another program has changed the tables. Only in stores that may be written: one that only reads was opened with
/// whatever its tables are.
final class StoredModels: Sendable {
  /// The container's models.
  private let layout: StoreLayout
  /// SQLite's schema version of the tables that were compared last, by saves and by fetches, which
  /// accept more.
  private let written = Atomic<Int64>(unknown)
  private let read = Atomic<Int64>(unknown)
  /// Before the store was opened, nothing is compared.
  private static let unknown: Int64 = -1

  init(_ layout: StoreLayout) { self.layout = layout }

  /// Sets the version of the tables that the store was opened with.
  func didOpen(_ version: Int64) {
    written.store(version, ordering: .releasing)
    read.store(version, ordering: .releasing)
  }

  /// Compares the tables that a connection's transaction is about to write with the models.
  ///
  /// Costs an atomic load while the version is the same, and otherwise decoding and comparing the
  /// recorded schema.
  ///
  /// - Parameter version: SQLite's version of the tables.
  /// - Throws: `unknownSchema` if they are not those of the models.
  func checkWriting(_ connection: StoreConnection, version: Int64) throws {
    guard isNew(version, written) else { return }
    if let stored = try connection.storedSchema() {
      // Its facts alone: a stored schema has no default values, and its migration is done.
      let difference = SchemaDifference(from: layout.schema, to: stored)
      guard difference.isEmpty else { throw refusal(difference, "Nothing was saved.") }
    }
    // Only after a success: each later save must be refused, too.
    written.store(version, ordering: .releasing)
  }

  /// Compares the tables that a connection's snapshot reads.
  ///
  /// SQLite misses a table or a column that is gone, and what was added is not read. But a name may have been given to
  /// another class or property, as when two swap theirs.
  ///
  /// - Throws: `unknownSchema` if a name of the models means something else in the store.
  func checkReading(_ connection: StoreConnection) throws {
    guard let version = try connection.integer("PRAGMA schema_version"), isNew(version, read) else {
      return
    }
    if let stored = try connection.storedSchema() {
      let match = SchemaMatch(from: layout.schema, to: stored)
      if match.givesNamesAway { throw refusal(SchemaDifference(match), "Nothing was read.") }
    }
    read.store(version, ordering: .releasing)
  }

  /// Whether a version was not compared yet. Always false before the store is open.
  private func isNew(_ version: Int64, _ compared: borrowing Atomic<Int64>) -> Bool {
    let known = compared.load(ordering: .acquiring)
    return known != Self.unknown && known != version
  }

  /// The error of models that the store no longer has.
  private func refusal(_ difference: SchemaDifference, _ effect: String) -> SwiftDataError {
    SwiftDataError(
      .unknownSchema,
      "The store has since been opened with other models, and was migrated. "
        + "\(difference.facts) \(effect) Open a new container with the models that the store has now."
    )
  }
}

extension SchemaMatch {
  /// Whether a name of the old schema means another class or property in the new one.
  fileprivate var givesNamesAway: Bool {
    new.entities.contains { entity in
      guard let old = old.entitiesByName[entity.name] else { return false }
      // Both schemas have a class of this name, but the new one had another name before.
      guard oldEntities[entity.name]?.name == old.name else { return true }
      let names = Set(old.storedProperties.map(\.name))
      return entity.storedProperties.contains { property in
        names.contains(property.name)
          && oldProperty(property.name, of: entity.name)?.name != property.name
      }
    }
  }
}
