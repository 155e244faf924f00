import Foundation

// Without an import of SteadFiles, programs can set `Stead.onProblem`.
@_exported public import enum SteadFiles.Stead

#if !Everything && !Secrets && !Transfer
  #error(
    "SteadSecrets needs the trait Secrets, which brings swift-crypto for its vault. In Package.swift write .package(url: …, traits: [\"Secrets\"]) for this package."
  )
#endif

/// The secrets of one app or one server, by the names of their accounts.
///
/// ```swift
/// let secrets = try Secrets(service: "org.example.Notes")
/// try secrets.set("correct horse", for: "anna@example.org")
/// let password = try secrets.string(for: "anna@example.org")
/// ```
///
/// It is the same on every system; where the secrets are kept is the ``store``'s matter, and
/// ``storeDescription`` tells of it. A value of this type holds no secret itself, and may be used from every
/// thread and copied at no cost. Calls wait for the store: microseconds for a vault or memory,
/// around a millisecond for a service of the desktop.
///
/// Reads give nil only when the store knows that there is no such item. One that is locked, not set up
/// or out of reach throws.
public struct Secrets: Sendable {
  /// The app or the server that the secrets are for.
  public let service: String
  /// What keeps the secrets.
  public let store: any SecretStore

  /// The secrets of a service in a store of the caller's choice.
  ///
  /// - Parameters:
  ///   - service: A name that no other app uses, such as `org.example.Notes`.
  ///   - store: Where the secrets are kept.
  /// - Throws: ``SecretError``: `.invalidName` as ``SecretID/init(service:account:)`` does.
  public init(service: String, store: any SecretStore) throws(SecretError) {
    try SecretID.check(service, "service")
    self.service = service
    self.store = store
  }

  /// Which store keeps the secrets, and why that one.
  public var storeDescription: SecretStoreDescription { store.storeDescription }

  /// Gives an error of the store the names of what it was about.
  func naming<Result>(
    _ account: String?, _ body: () throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    do throws(SecretError) {
      return try body()
    } catch {
      var named = error
      named.service = error.service ?? service
      named.account = error.account ?? account
      throw named
    }
  }

  func id(_ account: String) throws(SecretError) -> SecretID {
    try SecretID(service: service, account: account)
  }
}

extension Secrets {
  /// The secret of an account, or nil when there is none.
  ///
  /// It stays in memory that is zeroed later; ``data(for:)`` and ``string(for:)`` make copies that
  /// are not.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized`, `.unavailable` or `.corrupt` when it cannot
  ///   be read.
  public func bytes(for account: String) throws(SecretError) -> SecretBytes? {
    try naming(account) { () throws(SecretError) in try store.bytes(for: id(account)) }
  }

  /// Calls `body` with the bytes of a secret, and returns what it returns; nil without a secret.
  ///
  /// The bytes must not be used after `body` returns. What `body` copies is the caller's to zero.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does; and what `body` throws.
  public func withBytes<Result>(
    for account: String, _ body: (UnsafeRawBufferPointer) throws(SecretError) -> Result
  ) throws(SecretError) -> Result? {
    try bytes(for: account)?.withBytes(body)
  }

  /// Calls `body`, which may throw errors of its own, with the bytes of a secret, as the other
  /// `withBytes(for:_:)` does.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does; and what `body` throws.
  public func withBytes<Result, Failure: Error>(
    for account: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws -> Result? {
    try bytes(for: account)?.withBytes(body)
  }

  /// A copy of an account's secret, or nil when there is none.
  ///
  /// The whole secret stays in the copy's memory, which is not zeroed when it goes; so do copies of the copy.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  public func data(for account: String) throws(SecretError) -> Data? {
    try withBytes(for: account) { Data($0) }
  }

  /// An account's secret as text, or nil when there is none.
  ///
  /// The whole secret stays in the string's memory, which is not zeroed when it goes; so do parts of it and
  /// strings made of it. There is no way to zero a string: use `withBytes(for:_:)`.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the secret is not UTF-8; else as ``bytes(for:)``
  ///   does.
  public func string(for account: String) throws(SecretError) -> String? {
    try bytes(for: account)?.withBytes { bytes throws(SecretError) in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw SecretError(
          code: .notDecodable,
          message: "The secret is not text in UTF-8. Read it by data(for:).", service: service,
          account: account)
      }
      return text
    }
  }
}
