import Foundation
import SteadFiles
import SteadRecords
import SteadSQLite

/// Where the values of a class are in a store, for the rows of one entity.
struct CoreDataClassPlan {
  /// An attribute and its column.
  struct Attribute {
    /// The form of a column's values.
    enum Form: Hashable {
      /// The value itself.
      case plain
      /// External storage is allowed: a byte that says whether the data or the name of a file
      /// follows.
      case marked
    }

    /// The property's name, or that of a field.
    let name: String
    /// The column's name as in the database.
    let column: String
    /// The encoding of the property in the container's store.
    let encoding: _ColumnEncoding
    /// Whether a value transformer decodes the data, which is then copied as it is.
    let hasTransformer: Bool
    var form: Form = .plain
    /// Whether NULL becomes the property's default value.
    var hasDefault = false
    /// Whether a field of a struct is a `Float`.
    var isFloat = false
  }

  /// A property whose parts have columns of their own.
  struct Composite {
    /// The kind of the parts.
    enum Form {
      /// The fields of a struct.
      case fields
      /// The cases of an enum, each with a column for its name, or with a struct of its payload.
      case cases
    }

    /// The property's name, or that of a field.
    let name: String
    var form: Form = .fields
    /// The parts with a column of their own.
    var fields: [Attribute]
    /// Structs within this one.
    var nested: [Composite] = []
    /// Whether the property gets its default value if all columns are NULL.
    var hasDefault = false
    /// Whether all columns being NULL means nil, not a struct whose fields are all nil.
    var isOptional = true
    /// The value if all columns are NULL and it isn't nil: a struct of optional fields.
    var empty: SQLValue = .null

    /// The columns of all parts.
    var columns: [String] { fields.map(\.column) + nested.flatMap(\.columns) }

    /// The JSON object of the struct whose fields are all nil, with its non-optional structs.
    var emptyObject: [String: Any] {
      let structs = nested.filter { !$0.isOptional && $0.form == .fields && form == .fields }
      return Dictionary(structs.map { ($0.name, $0.emptyObject) }) { first, _ in first }
    }
  }

  /// A relationship and its storage.
  struct Relationship {
    /// Where a relationship is stored.
    enum Storage: Hashable {
      /// In a column of the rows themselves.
      case own(Reference)
      /// In a column of the rows that it leads to.
      case other(Reference)
      /// In a join table.
      case pairs(table: String, own: String, other: String, isReflexive: Bool)
    }

    /// The name of the class's property.
    let name: String
    let isToMany: Bool
    let storage: Storage
    /// The hierarchy that it refers to.
    let destination: String
  }

  /// The entity whose rows are read.
  let entity: CoreDataCatalog.Entity
  /// The class that takes the rows.
  let className: String
  /// The properties with one column.
  var attributes: [Attribute] = []
  /// The properties whose parts have columns.
  var composites: [Composite] = []
  /// The relationships that the store has something for.
  var relationships: [Relationship] = []
  /// The properties that the store has nothing for.
  var missing: [String] = []
  /// The columns that properties take, in capitals; the others are unmapped.
  var claimed: Set<String> = []

  /// A foreign-key column.
  struct Reference: Hashable {
    /// The table of the rows that refer.
    let table: String
    /// The column with the numbers of the rows that are referred to.
    let column: String
    /// The entities whose rows are read; the table may have those of others.
    let entities: Set<Int64>
    /// The column with the number of the destination's entity, if it can be of several.
    let entityColumn: String?
    /// The column with the row's position among those that refer to the same destination.
    let orderColumn: String?
    /// The hierarchy that is referred to.
    let destination: String
  }
}

// MARK: - Columns of a query

/// The columns of the query for one entity's rows.
struct CoreDataRowLayout {
  /// The columns, the row's number first.
  let columns: [String]
  /// The index of each column.
  private let indices: [String: Int]

  /// The columns of a plan's properties; of an entity without a class only the row's number.
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

  /// A row's value of a column.
  func value(_ column: String, in row: [SQLValue]) -> SQLValue {
    indices[column].map { row[$0] } ?? .null
  }
}
