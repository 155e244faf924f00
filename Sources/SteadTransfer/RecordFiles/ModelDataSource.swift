public import Foundation
import SteadFiles
public import SteadRecords
import SteadSQLite

extension TransferSource where Value == RecordData {
  /// The bytes in an optional property of records. Records with nil or no bytes are no items.
  ///
  /// ```swift
  /// let transfer = Transfer(
  ///   "images", from: try .data(of: \Photo.image, in: container),
  ///   to: try .files(in: directory, path: \Photo.path, of: container)
  /// ) { RecordFile($0.data, extension: "jpg", of: $0.identifier) }
  /// ```
  ///
  /// Bytes in files of external storage are mapped; all others are in memory at once. Removal sets
  /// the property to nil, or to no bytes, in the records that still have the moved value. The
  /// records stay.
  ///
  /// - Throws: ``TransferError/Code/unsupported`` if the key path isn't one of a stored property.
  public static func data<Model: PersistentModel>(
    of property: KeyPath<Model, Data?>, in container: ModelContainer
  ) throws -> Self {
    Self(try ModelDataSource(container, property))
  }

  /// The bytes in a property of records. Records with no bytes are no items.
  ///
  /// - Throws: ``TransferError/Code/unsupported`` if the key path isn't one of a stored property.
  public static func data<Model: PersistentModel>(
    of property: KeyPath<Model, Data>, in container: ModelContainer
  ) throws -> Self {
    Self(try ModelDataSource(container, property))
  }
}

/// The bytes in a property of records as the source of a transfer.
struct ModelDataSource<Model: PersistentModel>: ItemSource {
  /// The container that is read.
  let container: ModelContainer
  /// The name of the property.
  let property: String
  /// Whether the property may be cleared; false for a container that was opened without saving.
  let isRemovable: Bool
  /// The store of the records.
  private let store: TransferStore

  /// The bytes of an optional property.
  init(_ container: ModelContainer, _ property: KeyPath<Model, Data?>) throws {
    try self.init(container, path: property)
  }

  /// The bytes of a property.
  init(_ container: ModelContainer, _ property: KeyPath<Model, Data>) throws {
    try self.init(container, path: property)
  }

  private init(_ container: ModelContainer, path: AnyKeyPath) throws {
    self.container = container
    store = try TransferStore(container, holding: Schema.entityName(for: Model.self))
    property = try store.property(of: path, on: Model.self)
    isRemovable = container.configurations.allSatisfy(\.allowsSave)
  }

  /// `Photo.image`
  var name: String { "\(Schema.entityName(for: Model.self)).\(property)" }

  /// The records' bytes, by the numbers of their rows.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<RecordData> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<RecordData>] {
    try store.mappingErrors("read") {
      try store.rows.read { rows in
        var items: [TransferItem<RecordData>] = []
        for shape in store.family(of: Model.self) {
          try rows.forEachValue(of: property, in: shape) { number, value in
            try TransferStore.reportProgress(.reading, items.count, of: nil, progress)
            items.append(item(value, shape, number, rows))
          }
        }
        return items
      }
    }
  }

  /// A record's bytes as an item.
  private func item(
    _ value: SQLValue, _ shape: RowShape, _ number: Int64, _ rows: RowTransaction
  ) -> TransferItem<RecordData> {
    // The row's own class instead of its root: clearing looks up the shape by it.
    let key = StoredRow.Key(root: shape.name, number: number)
    return TransferItem(
      name: "\(name) of \(shape.name) \(number)",
      identity: key.identity(digest: Self.digest(of: value)),
      value: Result {
        // External values are mapped here.
        guard case .blob(let data) = try rows.bytes(ofExternal: value) else {
          throw TransferError(code: .unreadable, message: "The column does not hold bytes.")
        }
        return RecordData(identifier: rows.rows.identifier(shape, number), data: data)
      })
  }

  /// The digest of a value. External storage names files by their SHA-256, so the bytes needn't be
  /// read.
  private static func digest(of value: SQLValue) -> String {
    switch value {
    case .blob(let data): ItemDigest.text(of: data)
    case .text(let reference): String(reference.prefix(ItemDigest.digitCount))
    default: ""
    }
  }

  /// Clears the property of the records that still have the moved value.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    try store.mappingErrors("written") {
      try store.rows.write { rows in
        // Sorted, so that rows are changed in the order of their numbers.
        try Set(entries.map(\.identity)).sorted().count { try clear($0, rows) }
      }
    }
  }

  /// Clears the property of one record; false if it has another value.
  private func clear(_ identity: String, _ rows: RowTransaction) throws -> Bool {
    // The class or the property may be gone since the receipt was written.
    guard let key = StoredRow.Key(identity: identity), let shape = rows.rows.shapes[key.root],
      let attribute = shape.attributes.first(where: { $0.name == property }),
      let value = try rows.value(of: property, in: shape, key.number),
      key.identity(digest: Self.digest(of: value)) == identity
    else { return false }
    // Compares once more within the statement, and removes the value's file after the commit.
    return try rows.clear(attribute, of: key.number, in: shape, holding: value)
  }
}

extension TransferStore {
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

// MARK: - Items

/// The bytes in a property of a record: an item of `.data(of:in:)`.
///
/// ```swift
/// { RecordFile($0.data, extension: "jpg", of: $0.identifier) }
/// ```
///
/// Bytes in files of external storage are mapped, so they take memory only while they are read.
public struct RecordData: Sendable {
  /// The record.
  public let identifier: PersistentIdentifier
  /// The bytes.
  public let data: Data
}
