import SteadSyncProtocol

/// The form of the protocol's values in the database: the protocol's own encoding.
enum StoredForm {
  /// Reads a value that the server has written. Throws ``EngineError`` for anything else.
  static func read<Value: SyncCodable>(_ bytes: [UInt8], as type: Value.Type = Value.self) throws
    -> Value
  {
    do { return try Value(encoded: bytes) } catch {
      throw EngineError(
        code: .other, message: "A row of the database is damaged; restore a backup.")
    }
  }
}
