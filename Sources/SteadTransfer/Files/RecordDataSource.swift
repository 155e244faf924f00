import Foundation
import SteadFiles
public import SteadRecords
import SteadSQLite

/// The bytes that a property of records holds, as the source of a transfer; `nil` and none are left out.
///
/// ```swift
/// let transfer = Transfer(
///   "images", from: try RecordDataSource(container, \Photo.image),
///   to: try RecordFilesDestination(container, in: directory, path: \Photo.path)
/// ) { RecordFile($0.data, extension: "jpg", of: $0.identifier) }
/// ```
///
/// Bytes in files of external storage are mapped, others in memory all at once. Removing clears the
/// property, to `nil` or to no bytes, of records that still hold what was moved; the records stay.
public struct RecordDataSource<Model: PersistentModel>: TransferSource {
  /// What one record's property holds.
  public struct Value: Sendable {
    /// The record.
    public let identifier: PersistentIdentifier
    /// The bytes.
    public let data: Foundation.Data
  }

  /// The container that is read.
  public let container: ModelContainer
  /// The name of the property.
  public let property: String
  /// Whether the property may be cleared; false for a container that was opened without saving.
  public let isRemovable: Bool
  private let store: RecordsStore

  /// The bytes of an optional property.
  ///
  /// - Throws: ``TransferError`` `.unsupported` when the key path is not a stored property's.
  public init(_ container: ModelContainer, _ property: KeyPath<Model, Foundation.Data?>) throws {
    try self.init(container, path: property)
  }

  /// The bytes of a property; no bytes are none to move.
  ///
  /// - Throws: ``TransferError`` `.unsupported` when the key path is not a stored property's.
  public init(_ container: ModelContainer, _ property: KeyPath<Model, Foundation.Data>) throws {
    try self.init(container, path: property)
  }

  private init(_ container: ModelContainer, path: AnyKeyPath) throws {
    self.container = container
    store = try RecordsStore(container, holding: Schema.entityName(for: Model.self))
    property = try store.property(of: path, on: Model.self)
    isRemovable = container.configurations.allSatisfy(\.allowsSave)
  }

  /// `Photo.image`
  public var name: String { "\(Schema.entityName(for: Model.self)).\(property)" }

  /// What the records hold, by their rows' numbers.
  public func read(_ progress: TransferProgress.Report) throws -> [TransferItem<Value>] {
    try store.reporting("read") {
      try store.rows.read { rows in
        var items: [TransferItem<Value>] = []
        for shape in store.family(of: Model.self) {
          try rows.forEachValue(of: property, in: shape) { number, value in
            try RecordsStore.report(.reading, items.count, of: nil, progress)
            items.append(item(value, shape, number, rows))
          }
        }
        return items
      }
    }
  }

  private func item(
    _ value: SQLValue, _ shape: RowShape, _ number: Int64, _ rows: RowTransaction
  ) -> TransferItem<Value> {
    let key = StoredRow.Key(root: shape.name, number: number)
    return TransferItem(
      name: "\(name) of \(shape.name) \(number)",
      identity: key.identity(digest: Self.digest(of: value)),
      value: Result {
        guard case .blob(let data) = try rows.bytes(ofExternal: value) else {
          throw TransferError(code: .unreadable, message: "The column does not hold bytes.")
        }
        return Value(identifier: rows.rows.identifier(shape, number), data: data)
      })
  }

  /// A file is named for the digest of what it holds.
  private static func digest(of value: SQLValue) -> String {
    switch value {
    case .blob(let data): SHA256.hexadecimal(data)
    case .text(let reference): reference
    default: ""
    }
  }

  /// Clears the property of the records that still hold what was moved.
  public func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    try store.reporting("written") {
      try store.rows.write { rows in
        try Set(entries.map(\.identity)).sorted().count { try clear($0, rows) }
      }
    }
  }

  private func clear(_ identity: String, _ rows: RowTransaction) throws -> Bool {
    guard let key = StoredRow.Key(identity: identity), let shape = rows.rows.shapes[key.root],
      let attribute = shape.attributes.first(where: { $0.name == property }),
      let value = try rows.value(of: property, in: shape, key.number),
      key.identity(digest: Self.digest(of: value)) == identity
    else { return false }
    return try rows.clear(attribute, of: key.number, in: shape, holding: value)
  }
}

extension RecordsStore {
  /// The shapes of a model and its subclasses, by name.
  func family<M: PersistentModel>(of type: M.Type) -> [RowShape] {
    let name = Schema.entityName(for: type)
    return rows.shapes.values.filter { $0.lineage.contains(name) }.sorted { $0.name < $1.name }
  }

  /// The name of the attribute that a key path reads.
  func property<M: PersistentModel>(of path: AnyKeyPath, on type: M.Type) throws -> String {
    let entity = Schema.entityName(for: type)
    guard let name = rows.propertyName(of: path, on: type),
      rows.shapes[entity]?.attributes.contains(where: { $0.name == name }) == true
    else {
      throw TransferError(
        code: .unsupported,
        message: "The key path is not that of a stored property of \(entity). Name one of @Model's."
      )
    }
    return name
  }
}
