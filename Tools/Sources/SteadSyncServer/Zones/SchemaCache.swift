import SteadSyncProtocol
import Synchronization

/// Schemas by their stored bytes: every push needs its zone's schema, and many zones have the same.
final class SchemaCache: Sendable {
  /// The maximum number of schemas. Beyond it all are dropped.
  static let maximumCount = 500

  private let schemas = Mutex<[[UInt8]: Schema]>([:])

  /// The schema that is stored as these bytes; no bytes mean an empty schema.
  func schema(_ bytes: [UInt8]) throws -> Schema {
    if bytes.isEmpty { return .empty }
    if let known = schemas.withLock({ $0[bytes] }) { return known }
    let schema = try StoredForm.read(bytes, as: Schema.self)
    schemas.withLock { schemas in
      if schemas.count >= Self.maximumCount { schemas.removeAll() }
      schemas[bytes] = schema
    }
    return schema
  }
}
