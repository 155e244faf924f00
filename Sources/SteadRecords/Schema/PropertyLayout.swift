/// One stored property and its column.
///
/// A class: it is looked at with each change of a relationship, and copying a struct with that many references would
/// retain each of them.
// Sendable: all parts are immutable; `defaultValue` is only read.
final class PropertyLayout: @unchecked Sendable {
  /// Its place among the stored properties of the class, inherited ones first.
  let index: Int
  let name: String
  /// The name in the schema that a migration comes from.
  let originalName: String
  /// The key path of the class that declares it.
  let keyPath: AnyKeyPath?
  /// The column's name, unquoted; nil for a to-many relationship.
  let column: String?
  let kind: Kind
  let isOptional: Bool
  /// The Swift type with its optional.
  let valueType: any Any.Type
  let defaultValue: Any?
  let isUnique: Bool
  /// Whether the full-text index has it.
  let isSearchable: Bool
  /// Whether a change of it alone leaves its object unchanged for a save.
  let isEphemeral: Bool
  /// Whether the history keeps the value when the object is deleted.
  let isPreserved: Bool
  /// Whether it has the option for external storage, whatever its type.
  let asksForFiles: Bool
  let transformerName: String?
  /// nil for an attribute.
  let relationship: RelationshipLayout?
  /// Whether it is a to-one relationship with a to-one inverse, or with one among several.
  let isOneToOne: Bool
  /// The column, unquoted, that records which of a to-one relationship's `lists` the object is in: NULL or 0 for the
  /// first, else the list's number. nil unless several lists are stored in the same column.
  let listColumn: String?
  /// Whether the program's type of a relationship is a class of another version, in whose place the schema has a class of
  /// the same name.
  let isForeign: Bool

  init(
    index: Int, name: String, originalName: String, keyPath: AnyKeyPath?, column: String?,
    kind: Kind, isOptional: Bool, valueType: any Any.Type, defaultValue: Any?, isUnique: Bool,
    isSearchable: Bool, isEphemeral: Bool, isPreserved: Bool = false,
    asksForFiles: Bool = false, transformerName: String?,
    relationship: RelationshipLayout?, isOneToOne: Bool = false, listColumn: String? = nil,
    isForeign: Bool = false
  ) {
    self.isForeign = isForeign
    self.isOneToOne = isOneToOne
    self.index = index
    self.name = name
    self.originalName = originalName
    self.keyPath = keyPath
    self.column = column
    self.kind = kind
    self.isOptional = isOptional
    self.valueType = valueType
    self.defaultValue = defaultValue
    self.isUnique = isUnique
    self.isSearchable = isSearchable
    self.isEphemeral = isEphemeral
    self.isPreserved = isPreserved
    self.asksForFiles = asksForFiles
    self.transformerName = transformerName
    self.relationship = relationship
    self.listColumn = listColumn
  }

  /// How the property is stored. Destinations are indices in ``StoreLayout/entities``.
  enum Kind: Sendable {
    case attribute(ColumnEncoding)
    case toOne(destination: Int)
    case toMany(ToManyStorage, destination: Int)
  }

  /// The index of the entity that a relationship leads to; nil for an attribute.
  var destination: Int? {
    switch kind {
    case .attribute: nil
    case .toOne(let destination), .toMany(_, let destination): destination
    }
  }

  var isToMany: Bool { if case .toMany = kind { true } else { false } }

  /// The number of the to-many relationship that has the object by default.
  var firstList: Int { relationship?.lists.first?.number ?? 0 }

  /// The inverses: properties of the destination. Several if they share this to-one property.
  func inverses(in entities: [EntityLayout]) -> [PropertyLayout] {
    guard let destination, let relationship else { return [] }
    return relationship.inverses.map { entities[destination].properties[$0] }
  }

  /// Whether the column of a to-one relationship has one for the position beside it: if a to-many relationship is stored
  /// in it.
  func needsOrder(in entities: [EntityLayout]) -> Bool {
    guard case .toOne = kind else { return false }
    let inverses = inverses(in: entities)
    // Without an inverse, lists of subclasses share the property.
    return inverses.contains(where: \.isToMany) || (listColumn != nil && inverses.isEmpty)
  }

  /// Whether the column may refer to a row that was deleted, by the rule `noAction` of an inverse.
  ///
  /// Such a reference reads as nil, so a reader has to look whether the row still exists.
  func mayBeLeft(in entities: [EntityLayout]) -> Bool {
    inverses(in: entities).contains { $0.relationship?.deleteRule == .noAction }
  }

  /// Whether a save may be refused for the relationship: by a denied deletion, a limit on members, or a required
  /// reference.
  var hasRule: Bool {
    guard let relationship else { return false }
    return relationship.deleteRule == .deny || relationship.minimum > 0
      || relationship.maximum > 0 || !(isToMany || isOptional)
  }

  /// The table of pairs that stores a to-many relationship without a to-one inverse; nil for other
  /// properties.
  var joinTable: JoinTable? {
    if case .toMany(.join(let table, let owner, let target), _) = kind {
      JoinTable(name: table, owner: owner, target: target)
    } else {
      nil
    }
  }
}

// MARK: - Relationships

/// The rules of a relationship, and its inverse.
struct RelationshipLayout: Sendable {
  let deleteRule: Schema.Relationship.DeleteRule
  /// The least number of members of a saved object, and the greatest; 0 for none.
  let minimum: Int
  let maximum: Int
  /// The index of the inverse in the destination's properties; the first of `lists` if several relationships share this
  /// one as their inverse.
  let inverse: Int?
  /// The to-many relationships that share this to-one as their inverse, as far as they can have objects of the class, in
  /// declaration order. An object is in at most one of them.
  var lists: [SharedList] = []
  /// The relationship's number among those that share its inverse; nil where it shares none.
  var list: Int?

  /// The indices of all inverses in the destination's properties. Several lists over one to-one are all its inverses;
  /// without shared lists there is at most one.
  var inverses: [Int] {
    lists.isEmpty ? inverse.map { [$0] } ?? [] : lists.map(\.property)
  }
}

/// One of several relationships that name the same to-one relationship as their inverse.
struct SharedList: Hashable, Sendable {
  /// Its index in the properties of the to-one's destination.
  let property: Int
  /// Its place in the order of declaration, from 0: what the to-one's `listColumn` holds.
  let number: Int
}

/// Where a to-many relationship is stored.
enum ToManyStorage: Sendable {
  /// In the column of the destination's to-one property with this index. Where that property has a
  /// `listColumn`, this column holds the `list` of the relationship.
  case inverse(toOneProperty: Int)
  /// In a table of pairs.
  case join(table: String, owner: String, target: String)
}

/// A table of pairs and its two columns, by their names, unquoted.
struct JoinTable: Hashable, Sendable {
  let name: String
  let owner: String
  let target: String
}

/// The names, unquoted, of the columns next to a foreign key that belong to no property.
///
/// Each begins with an underscore, as `_id` and `_entity` do.
enum HiddenColumn {
  /// The column with the order of a to-many relationship over this foreign key.
  static func order(of foreignKey: String) -> String { "_\(foreignKey)_order" }

  /// The column with the number of the to-many relationship, of several over this foreign key.
  static func list(of foreignKey: String) -> String { "_\(foreignKey)_list" }

  /// Whether each table of models, or of their earlier versions, has a column of that name.
  static func isReserved(_ column: String) -> Bool {
    let column = column.lowercased()
    return column == "_id" || column == "_entity" || column.hasPrefix("_stead_")
  }

  /// The new names of a property's columns when the property gets another name.
  ///
  /// A table may lack the last two; the caller renames those that exist.
  static func renamings(from old: String, to new: String) -> [(old: String, new: String)] {
    [(old, new), (order(of: old), order(of: new)), (list(of: old), list(of: new))]
  }
}

/// The names, unquoted, of tables beside those of models and of pairs.
enum HiddenTable {
  /// The tables of a class's full-text search: the one that is asked, and those in which FTS5 keeps its content.
  static func search(of entity: String) -> [String] {
    ["", "_data", "_idx", "_docsize", "_config"].map { "\(entity)_search\($0)" }
  }
}
