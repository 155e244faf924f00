import Foundation
import SteadFiles
import SteadRecords
import SteadSQLite

/// The location of one class's values in a store, for the rows of one entity.
struct CoreDataClassPlan {
  /// An attribute and its columns.
  struct Attribute {
    /// What a column holds.
    enum Form: Hashable {
      /// The value.
      case plain
      /// A byte that shows whether the data follows or the name of a file.
      case marked
    }

    let name: String
    let column: String
    let encoding: _ColumnEncoding
    let hasTransformer: Bool
    var form: Form = .plain
    /// Whether NULL becomes the property's default value.
    var hasDefault = false
    /// Whether a field of a struct is a `Float`.
    var isFloat = false
  }

  /// A property whose parts have columns of their own.
  struct Composite {
    /// What the parts are.
    enum Form {
      /// The fields of a struct.
      case fields
      /// The cases of an enum, each with a column for its name, or with a struct of its payload.
      case cases
    }

    let name: String
    var form: Form = .fields
    var fields: [Attribute]
    /// Structs that are fields of this one.
    var nested: [Composite] = []
    /// Whether all columns being NULL becomes the property's default value.
    var hasDefault = false
    /// Whether all columns being NULL is nil, not a struct whose fields are all nil.
    var isOptional = true
    /// What all columns being NULL is, if it isn't nil: a struct of optional fields.
    var empty: SQLValue = .null

    /// The columns of all parts.
    var columns: [String] { fields.map(\.column) + nested.flatMap(\.columns) }

    /// The struct whose fields are all nil, with those within it that are not optional.
    var emptyObject: [String: Any] {
      let structs = nested.filter { !$0.isOptional && $0.form == .fields && form == .fields }
      return Dictionary(structs.map { ($0.name, $0.emptyObject) }) { first, _ in first }
    }
  }

  /// A relationship, and where it is stored.
  struct Relationship {
    enum Storage: Hashable {
      /// In a column of the rows themselves.
      case own(Reference)
      /// In a column of the rows that it refers to.
      case other(Reference)
      /// In a table of pairs.
      case pairs(table: String, own: String, other: String, isReflexive: Bool)
    }

    let name: String
    let isToMany: Bool
    let storage: Storage
    /// The hierarchy that it refers to.
    let destination: String
  }

  let entity: CoreDataCatalog.Entity
  let className: String
  var attributes: [Attribute] = []
  var composites: [Composite] = []
  var relationships: [Relationship] = []
  /// The properties that the store has no column for.
  var missing: [String] = []
  /// The columns that are taken, in capitals.
  var claimed: Set<String> = []

  /// A column with the numbers of rows that its own rows refer to.
  struct Reference: Hashable {
    let table: String
    let column: String
    /// The entities of the table whose rows it is read of.
    let entities: Set<Int64>
    /// The column with the number of the entity that is referred to, if one exists.
    let entityColumn: String?
    /// The column with the row's place among those that refer to the same one.
    let orderColumn: String?
    /// The hierarchy that is referred to.
    let destination: String
  }
}

// MARK: - Columns of a query

/// The columns of a SELECT of one entity's rows.
struct CoreDataRowLayout {
  let columns: [String]
  private let indices: [String: Int]

  init(_ plan: CoreDataClassPlan?) {
    var columns = ["Z_PK"]
    for attribute in plan?.attributes ?? [] { columns.append(attribute.column) }
    for composite in plan?.composites ?? [] { columns += composite.columns }
    for case .own(let reference) in (plan?.relationships ?? []).map(\.storage) {
      columns.append(reference.column)
      if let entity = reference.entityColumn { columns.append(entity) }
    }
    self.columns = columns
    indices = Dictionary(columns.enumerated().map { ($1, $0) }) { first, _ in first }
  }

  func value(_ column: String, in row: [SQLValue]) -> SQLValue {
    indices[column].map { row[$0] } ?? .null
  }
}
