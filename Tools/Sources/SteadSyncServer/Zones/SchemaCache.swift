import SteadSyncProtocol
import Synchronization

/// Schemas by their stored bytes, since every push needs its zone's and many zones have the same.
final class SchemaCache: Sendable {
  /// Schemas that are kept. All are dropped when there are more.
  static let maximumCount = 500

  private let schemas = Mutex<[[UInt8]: Schema]>([:])

  /// The schema that is stored as these bytes; empty bytes are the empty one.
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
