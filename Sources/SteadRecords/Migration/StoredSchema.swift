import Foundation

extension StoreConnection {
  /// The schema that a store was opened with last; nil where there is none.
  ///
  /// - Throws: An error of decoding where the store says something that is no schema.
  func storedSchema() throws -> Schema? {
    guard try integer("PRAGMA application_id") == StoreFile.applicationID else { return nil }
    let rows = try rows("SELECT value FROM stead_metadata WHERE key = 'schema'")
    guard case .text(let text)? = rows.first?.first else { return nil }
    return try JSONDecoder().decode(Schema.self, from: Data(text.utf8))
  }
}
