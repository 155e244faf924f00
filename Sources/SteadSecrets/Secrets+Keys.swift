import Foundation

// The three calls that code for Apple's Keychain often wraps it in. With
//
//     let KeychainManager = try Secrets(service: "org.example.Notes")
//
// at the top of a program, its calls of such a wrapper compile as they are.
extension Secrets {
  /// Keeps data under a key, in the place of what was there.
  ///
  /// - Throws: ``SecretError`` as ``set(_:for:label:attributes:requirements:)`` does.
  public func save(key: String, data: Data) throws(SecretError) {
    try set(data, for: key)
  }

  /// The data of a key that must be there.
  ///
  /// - Throws: ``SecretError``: `.notFound` when it is not; else as ``data(for:)`` does.
  public func load(key: String) throws(SecretError) -> Data {
    guard let data = try data(for: key) else {
      throw SecretError(
        code: .notFound, message: "Nothing is kept under this key. Save it first.",
        service: service, account: key)
    }
    return data
  }

  /// Removes a key and its data, or does nothing when there is none.
  ///
  /// - Throws: ``SecretError`` as ``remove(_:)`` does.
  public func delete(key: String) throws(SecretError) {
    try remove(key)
  }
}
