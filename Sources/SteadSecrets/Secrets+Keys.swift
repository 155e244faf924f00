import Foundation

// Three calls for code that wraps Apple's Keychain in such methods. With
//
//     let KeychainManager = try Secrets(service: "org.example.Notes")
//
// at the top of a program, its calls of such a wrapper compile unchanged.
extension Secrets {
  /// Stores data under a key, replacing any existing data.
  ///
  /// - Throws: ``SecretError`` as ``set(_:for:label:attributes:requirements:)`` does.
  public func save(key: String, data: Data) throws(SecretError) {
    try set(data, for: key)
  }

  /// The data of a key, which must exist.
  ///
  /// - Throws: ``SecretError``: `.notFound` when it does not exist; otherwise as ``data(for:)`` does.
  public func load(key: String) throws(SecretError) -> Data {
    guard let data = try data(for: key) else {
      throw SecretError(
        code: .notFound, message: "No data is stored under this key. Save it first.",
        service: service, account: key)
    }
    return data
  }

  /// Removes a key and its data, or does nothing if it does not exist.
  ///
  /// - Throws: ``SecretError`` as ``remove(_:)`` does.
  public func delete(key: String) throws(SecretError) {
    try remove(key)
  }
}
