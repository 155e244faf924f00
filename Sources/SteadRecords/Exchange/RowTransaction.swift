import Foundation
import SteadSQLite

/// A transaction on a store's rows, valid within the call that passes it.
package final class RowTransaction {
  package let rows: StoreRows
  private let store: RecordStore
  let connection: StoreConnection
  /// The files that rows no longer refer to; removed after the commit unless others refer to them.
  private(set) var droppedFiles: Set<String> = []
  private var conversions: [String: RowConversion] = [:]
  private var selections: [Int: SQLiteStatement] = [:]
  private var insertions: [Int: SQLiteStatement] = [:]
  private var pairSelections: [PairList: SQLiteStatement] = [:]
  private var bindings: [Int: RowBinding] = [:]

  init(_ rows: StoreRows, _ store: RecordStore, _ connection: StoreConnection) {
    self.rows = rows
    self.store = store
    self.connection = connection
  }

  /// The values that the attributes of an entity's row would have, in their order.
  ///
  /// - Throws: ``RowProblems`` if a value does not have its attribute's type.
  package func convert(
    _ attributes: [String: SQLValue], for shape: RowShape
  ) throws -> [SQLValue] {
    if let conversion = conversions[shape.name] { return try conversion.run(attributes) }
    let conversion = try RowConversion(
      shape, rows.container.layout.entities[shape.index], connection)
    conversions[shape.name] = conversion
    return try conversion.run(attributes)
  }

  /// What a column holds for bytes of an external attribute, which may be the name of a file that is
  /// written now.
  package func column(forExternal data: Data) throws -> SQLValue {
    guard let blobs = store.blobs, data.count >= ExternalData.fileThreshold else {
      return .blob(data)
    }
    return .text(try blobs.write(data))
  }

  /// The bytes that a column of an external attribute stands for; a file's are mapped.
  ///
  /// - Throws: If the file is gone or damaged.
  package func bytes(ofExternal value: SQLValue) throws -> SQLValue {
    guard case .text(let reference) = value, let blobs = store.blobs else { return value }
    return .blob(try blobs.map(reference))
  }

  /// Releases a file with this transaction, unless other rows refer to it.
  func dropFile(_ value: SQLValue) {
    if case .text(let reference) = value { droppedFiles.insert(reference) }
  }

  /// What a row holds in the columns of its shape; nil if that entity has no such row.
  func values(of shape: RowShape, _ number: Int64) throws -> [SQLValue]? {
    let statement = try statement(selecting: shape)
    statement.reset()
    defer { statement.reset() }
    statement.bind(number, at: 1)
    guard try statement.step() else { return nil }
    return shape.columns.indices.map { statement.value(Int32($0)) }
  }

  /// What an object binds for each of the columns of its shape; nil for columns without a property.
  func boundValues(of model: any PersistentModel, _ shape: RowShape) throws -> [SQLValue?] {
    let binding: RowBinding
    if let known = bindings[shape.index] {
      binding = known
    } else {
      binding = try RowBinding(
        shape, rows.container.layout.entities[shape.index], store.blobs, connection)
      bindings[shape.index] = binding
    }
    return try binding.values(of: model)
  }

  // MARK: Prepared statements

  private func statement(selecting shape: RowShape) throws -> SQLiteStatement {
    if let known = selections[shape.index] { return known }
    let columns =
      shape.columns.isEmpty ? "NULL" : shape.columns.map(\.sqlName).joined(separator: ", ")
    let statement = try connection.prepare(
      "SELECT \(columns) FROM \(shape.root.sqlName) WHERE \"_id\" = ?1\(shape.test)")
    selections[shape.index] = statement
    return statement
  }

  /// Selects target and both orders of an owner's pairs, in the order of their insertion.
  func statement(selecting list: PairList) throws -> SQLiteStatement {
    if let known = pairSelections[list] { return known }
    let statement = try connection.prepare(
      "SELECT target, owner_order, target_order FROM \(list.table.sqlName) "
        + "WHERE owner = ?1 ORDER BY \"_id\"")
    pairSelections[list] = statement
    return statement
  }

  /// Takes a row's number, then the values of its shape's columns.
  func statement(inserting shape: RowShape) throws -> SQLiteStatement {
    if let known = insertions[shape.index] { return known }
    let own = Set(shape.columns)
    let plan = rows.container.store(of: entity(of: shape))?.plans[shape.index]?.plan
    let others = (plan?.otherColumns ?? []).filter { !own.contains($0) }
    let names = (["_id"] + shape.columns + others).map(\.sqlName).joined(separator: ", ")
    let marks = ((0...shape.columns.count).map { "?\($0 + 1)" } + others.map { _ in "NULL" })
      .joined(separator: ", ")
    let statement = try connection.prepare(
      "INSERT INTO \(shape.root.sqlName) (\(names)) VALUES (\(marks))")
    insertions[shape.index] = statement
    return statement
  }
}
