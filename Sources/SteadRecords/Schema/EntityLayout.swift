import Synchronization

/// One model class and its table: all that follows from the schema, whichever store has the rows.
// Sendable: everything is immutable after init, except the cache, which has its own lock.
final class EntityLayout: @unchecked Sendable {
  /// Its place in ``StoreLayout/entities``.
  let index: Int
  let name: String
  let type: any PersistentModel.Type
  /// The table of the hierarchy's root, unquoted.
  let table: String
  /// The index of the topmost class of the hierarchy; the class's own outside a hierarchy.
  let rootIndex: Int
  /// The value of column `_entity`, when the class is part of a hierarchy.
  let discriminator: Int?
  /// The discriminators of the class and all its subclasses; empty outside hierarchies.
  let familyDiscriminators: [Int]
  /// The stored properties, inherited ones first: a property has the same index in all subclasses. Slots, sets of
  /// changes and column maps go by that index, whichever class of the hierarchy the code knows the object as.
  let properties: [PropertyLayout]
  /// The class's key path to each property. The key path in ``PropertyLayout`` is of the class that declares it.
  let keyPaths: [AnyKeyPath]
  /// The index of each property by the declaring class's key path and by this class's own.
  let propertyByKeyPath: [AnyKeyPath: Int]
  /// Indices of the properties of each uniqueness constraint.
  let uniqueConstraints: [[Int]]
  /// Indices of the properties of each index.
  let indices: [[Int]]
  /// Indices of properties with full-text search.
  let searchable: [Int]
  /// Indices of relationships.
  let relationships: [Int]
  /// Indices of to-many relationships that are stored in join tables.
  let joined: [Int]
  // The following are asked of each object that is changed or saved. They are stored, since a stored one is read from an
  // array of entities without retaining anything.
  /// Whether the class has relationships, of its own or inherited.
  let hasRelationships: Bool
  /// Whether the entity has unique constraints, with which a new object may be an upsert of an existing row.
  let isConstrained: Bool
  /// Whether a to-one relationship is part of a unique constraint.
  let hasReferenceInKey: Bool
  /// Whether a to-one relationship has a to-one inverse.
  let hasOneToOne: Bool
  /// Whether a save must check relationships before it writes.
  let hasRules: Bool
  /// The ephemeral properties: changes of these alone do not make an object dirty.
  let ephemeral: PropertySet
  /// The names that reading and writing its rows needs.
  let labels: RowLabels
  private let byName: [String: Int]
  /// The properties of key paths that neither list has, found by reading them once.
  let traced = TracedKeyPaths()
  /// Which properties have been read; nil outside of custom stages of a migration plan.
  let reads: PropertyReads?
  /// Whether objects get the flag `traced`: reads are recorded, or a relationship may lead to another class.
  let tracesReads: Bool

  init(_ parts: Parts) {
    index = parts.index
    reads = parts.reads
    tracesReads = parts.reads != nil || parts.properties.contains(where: \.isForeign)
    name = parts.name
    type = parts.type
    table = parts.table
    rootIndex = parts.rootIndex
    discriminator = parts.discriminator
    familyDiscriminators = parts.familyDiscriminators
    properties = parts.properties
    keyPaths = parts.keyPaths
    propertyByKeyPath = parts.propertyByKeyPath
    byName = Dictionary(uniqueKeysWithValues: parts.properties.map { ($0.name, $0.index) })
    let names = byName
    uniqueConstraints = parts.uniqueness.map { $0.compactMap { names[$0] } }.filter { !$0.isEmpty }
    indices = parts.indexed.map { $0.compactMap { names[$0] } }.filter { !$0.isEmpty }
    searchable = parts.properties.filter { $0.isSearchable }.map(\.index)
    relationships = parts.properties.filter { $0.destination != nil }.map(\.index)
    joined = parts.properties.filter { $0.joinTable != nil }.map(\.index)
    hasRelationships = !relationships.isEmpty
    isConstrained = !uniqueConstraints.isEmpty
    hasReferenceInKey = uniqueConstraints.joined().contains {
      parts.properties[$0].destination != nil
    }
    hasOneToOne = parts.properties.contains(where: \.isOneToOne)
    hasRules = parts.properties.contains(where: \.hasRule)
    ephemeral = PropertySet(parts.properties.filter(\.isEphemeral).map(\.index))
    labels = RowLabels(
      entity: parts.name, properties: parts.properties.map(\.name),
      transformers: parts.properties.map(\.transformerName))
  }

  /// Casts an object that is known to be of the class or a subclass.
  ///
  /// A cast would look the conformance up at run time, which costs more than loading a column.
  func model(_ object: AnyObject) -> any PersistentModel {
    func downcast<M: PersistentModel>(_ type: M.Type) -> any PersistentModel {
      // Checked in debug builds alone. In a release build an object of another class would be
      // undefined behavior, so callers take objects from the registry of this hierarchy, or after
      // `includes`.
      assert(object is M)
      return unsafeDowncast(object, to: type)
    }
    return _openExistential(type, do: downcast)
  }

  /// The stored property with a name, inherited or not; nil if the class has none.
  func property(named name: String) -> PropertyLayout? { byName[name].map { properties[$0] } }

  /// The condition, after another one, that is true for rows of the class and its subclasses; empty where the table has
  /// no others: outside hierarchies, and for the topmost class, whose table it is.
  ///
  /// - Parameter alias: The table's alias in the statement, if it has one.
  func ownRows(_ alias: String? = nil) -> String {
    // The topmost class includes every row of its table, so it needs no condition, and SQLite no
    // look at the column.
    guard let discriminator, rootIndex != index else { return "" }
    let family = familyDiscriminators.isEmpty ? [discriminator] : familyDiscriminators
    let column = (alias.map { "\($0)." } ?? "") + "\"_entity\""
    return " AND \(column) IN (\(family.map(String.init).joined(separator: ", ")))"
  }

  /// The condition, after another one, that is true for rows of the class itself; empty outside hierarchies.
  var ownClass: String { discriminator.map { " AND \"_entity\" = \($0)" } ?? "" }

  /// Whether objects of another class are objects of this one.
  func includes(_ other: EntityLayout) -> Bool {
    // Outside a hierarchy a class has no discriminator, and includes itself alone.
    if other.index == index { return true }
    return other.discriminator.map { familyDiscriminators.contains($0) } ?? false
  }

  /// What a layout is made of, before names are looked up.
  struct Parts {
    var index: Int
    var name: String
    var type: any PersistentModel.Type
    var table: String
    var rootIndex: Int
    var discriminator: Int?
    var familyDiscriminators: [Int]
    var properties: [PropertyLayout]
    var keyPaths: [AnyKeyPath]
    var propertyByKeyPath: [AnyKeyPath: Int]
    var uniqueness: [[String]]
    var indexed: [[String]]
    var reads: PropertyReads?
  }
}

extension EntityLayout {
  /// The index of the property that a key path reads.
  ///
  /// A key path that is not listed, such as `\T.name` in generic code, is read once on a probe, and
  /// remembered.
  func propertyIndex(of keyPath: AnyKeyPath) -> Int? {
    propertyByKeyPath[keyPath] ?? traceProperty(keyPath)
  }

  /// The index of the property that a key path reads, found by reading it.
  func traceProperty(_ keyPath: AnyKeyPath) -> Int? { traced.index(of: keyPath, on: type) }
}

/// Which properties of a class have been read of objects, or used in predicates, and whether objects of rows were made.
final class PropertyReads: Sendable {
  private let indices = Mutex<Set<Int>>([])
  /// Whether an object of a row was made. It never becomes false again, so relaxed accesses
  /// suffice.
  private let objects = Atomic(false)

  /// Records that a property was read. Safe on any thread: contexts of several threads may share
  /// the layout.
  func record(_ index: Int) { indices.withLock { _ = $0.insert(index) } }

  /// Whether a property was read.
  func contains(_ index: Int) -> Bool { indices.withLock { $0.contains(index) } }

  /// Records that an object of a row was made.
  func recordObject() { objects.store(true, ordering: .relaxed) }

  var hasObjects: Bool { objects.load(ordering: .relaxed) }
}

// MARK: - Indexes

/// An index of a model's table.
struct TableIndex: Hashable {
  /// The table's name, unquoted.
  let table: String
  /// The columns of the key, unquoted, in its order.
  let columns: [String]
  /// Whether rows may not share the values. NULL is equal to nothing.
  let isUnique: Bool
  /// The index's name, unquoted.
  let name: String

  /// The index of a column that holds a to-one relationship.
  init(reference column: String, of table: String) {
    self.table = table
    columns = [column]
    isUnique = false
    name = Self.name(table, reference: column)
  }

  /// The index of a table of pairs by its targets. By owners its UNIQUE constraint has one.
  init(ofPairs table: String) {
    self.table = table
    columns = ["target"]
    isUnique = false
    name = "\(table)_target"
  }

  /// The index of a set of properties; nil if one of them has no column.
  init?(_ properties: [Int], of entity: EntityLayout, isUnique: Bool) {
    let columns = properties.compactMap { entity.properties[$0].column }
    // A to-many relationship has no column.
    guard columns.count == properties.count else { return nil }
    table = entity.table
    self.columns = columns
    self.isUnique = isUnique
    name = Self.name(table, columns, isUnique: isUnique)
  }

  /// The name of the index of a to-one relationship's column. Names are stored: they must not change.
  static func name(_ table: String, reference column: String) -> String { "\(table)_\(column)" }

  /// The name of the index of a set of properties.
  static func name(_ table: String, _ columns: [String], isUnique: Bool) -> String {
    "\(table)_\(columns.joined(separator: "_"))\(isUnique ? "_unique" : "_index")"
  }
}
