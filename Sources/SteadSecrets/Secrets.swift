import Foundation
// So that programs can set `Stead.onProblem` without importing SteadFiles.
@_exported public import enum SteadFiles.Stead

#if !Everything && !Secrets && !Transfer && !Server
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
/// The calls are the same on every system. The ``store`` determines where the secrets are kept, and
/// ``storeDescription`` says so to a person. To let the system decide, use
/// ``init(service:in:environment:timeout:)``; to use a certain store, ``init(service:store:)``.
///
/// Reads return nil only when the store is certain that the item does not exist. A store that is locked, not
/// set up or out of reach throws.
///
/// Calls block the thread: microseconds for a read from a vault or memory, around a millisecond for the desktop's
/// Secret Service, some milliseconds for a write that is synced to disk, and up to the store's timeout if it
/// does not answer.
///
/// A value of this type contains no secret itself, may be used on any thread and is free to copy.
public struct Secrets: Sendable {
  /// The app or the server that the secrets are for.
  public let service: String
  /// The store that keeps the secrets.
  public let store: any SecretStore

  /// The secrets of a service in a store that the caller chooses.
  ///
  /// - Parameters:
  ///   - service: A name that no other app uses, such as `org.example.Notes`.
  ///   - store: The store for the secrets.
  /// - Throws: ``SecretError``: `.invalidName` as ``SecretID/init(service:account:)`` does.
  public init(service: String, store: any SecretStore) throws(SecretError) {
    try SecretID.check(service, "service")
    self.service = service
    self.store = store
  }

  /// Which store keeps the secrets, and why it was chosen.
  public var storeDescription: SecretStoreDescription { store.storeDescription }

  /// Calls `body`, and adds the names of the service and the account to its errors, which stores may not have set.
  func annotatingErrors<Result>(
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

  /// The checked name of an account's secret.
  func id(_ account: String) throws(SecretError) -> SecretID {
    try SecretID(service: service, account: account)
  }
}

extension Secrets {
  /// The secret of an account, or nil if none exists.
  ///
  /// Its memory is zeroed when it is released; ``data(for:)`` and ``string(for:)`` make copies that are not.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized`, `.unavailable` or `.corrupt` when it cannot
  ///   be read.
  public func bytes(for account: String) throws(SecretError) -> SecretBytes? {
    try annotatingErrors(account) { () throws(SecretError) in try store.bytes(for: id(account)) }
  }

  /// Calls `body` with the bytes of a secret, and returns its result; nil without a secret.
  ///
  /// ```swift
  /// try secrets.withBytes(for: "anna@example.org") { connection.authenticate(with: $0) }
  /// ```
  ///
  /// The bytes must not be used after `body` returns. The caller has to zero any copies that `body` makes.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does; and what `body` throws.
  public func withBytes<Result>(
    for account: String, _ body: (UnsafeRawBufferPointer) throws(SecretError) -> Result
  ) throws(SecretError) -> Result? {
    try bytes(for: account)?.withBytes(body)
  }

  /// Calls `body`, which may throw its own errors, with the bytes of a secret, as the other
  /// `withBytes(for:_:)` does.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does; and what `body` throws.
  public func withBytes<Result, Failure: Error>(
    for account: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws -> Result? {
    try bytes(for: account)?.withBytes(body)
  }

  /// A copy of an account's secret, or nil if none exists.
  ///
  /// The copy's memory holds the whole secret and isn't zeroed when it is released; neither are copies of the copy.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  public func data(for account: String) throws(SecretError) -> Data? {
    try withBytes(for: account) { Data($0) }
  }

  /// An account's secret as a string, or nil if none exists.
  ///
  /// The string's memory holds the whole secret and isn't zeroed when it is released; neither are its parts
  /// and strings made from it. A string cannot be zeroed: use `withBytes(for:_:)`.
  ///
  /// - Throws: ``SecretError``: `.notDecodable` when the secret isn't UTF-8; otherwise as ``bytes(for:)`` does.
  public func string(for account: String) throws(SecretError) -> String? {
    try bytes(for: account)?.withBytes { bytes throws(SecretError) in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw SecretError(
          code: .notDecodable,
          message: "The secret isn't UTF-8. Read it with data(for:).", service: service,
          account: account)
      }
      return text
    }
  }
}

// MARK: - Items

extension Secrets {
  /// Whether an account has a secret; the secret isn't read.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable` when the store cannot determine it.
  public func contains(_ account: String) throws(SecretError) -> Bool {
    try item(for: account) != nil
  }

  /// The metadata of an account's secret, or nil if none exists; the secret isn't read.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func item(for account: String) throws(SecretError) -> SecretItem? {
    try annotatingErrors(account) { () throws(SecretError) in try store.item(for: id(account)) }
  }

  /// The metadata of all secrets of the service, sorted by their accounts' UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func items() throws(SecretError) -> [SecretItem] {
    try annotatingErrors(nil) { () throws(SecretError) in try store.items(service: service) }
  }

  /// The metadata of the service's secrets that have all of these attributes, sorted by their accounts' UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func items(
    matching attributes: [String: String]
  ) throws(SecretError) -> [SecretItem] {
    try annotatingErrors(nil) { () throws(SecretError) in
      // The service of this value counts, whatever `attributes` says: other services are not its own.
      try store.items(matching: attributes.merging(["service": service]) { $1 })
    }
  }

  /// The accounts that have a secret, sorted by their UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does.
  public func accounts() throws(SecretError) -> [String] { try items().map(\.account) }

  /// Removes an account's secret, and returns whether it existed.
  ///
  /// - Throws: ``SecretError`` as ``contains(_:)`` does; `.noSpace` or `.accessDenied` when the store
  ///   cannot be written.
  @discardableResult
  public func remove(_ account: String) throws(SecretError) -> Bool {
    try annotatingErrors(account) { () throws(SecretError) in try store.remove(id(account)) }
  }

  /// Removes all secrets of the service, and returns their number.
  ///
  /// - Throws: ``SecretError`` as ``remove(_:)`` does.
  @discardableResult
  public func removeAll() throws(SecretError) -> Int {
    try annotatingErrors(nil) { () throws(SecretError) in try store.removeAll(service: service) }
  }
}

// MARK: - State

extension Secrets {
  /// Whether secrets can be read and stored now.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when the store cannot be reached.
  public func state() throws(SecretError) -> SecretStoreState {
    try annotatingErrors(nil) { () throws(SecretError) in try store.state() }
  }

  /// Asks the person to unlock the store, and waits for that; returns immediately when it is open.
  ///
  /// - Parameter timeout: The longest time to wait for the person.
  /// - Throws: ``SecretError``: `.cancelled` when the person or the task cancelled it, `.interactionRequired`
  ///   when nobody can be asked, `.unavailable` after the timeout, `.unsupported` from a store without a
  ///   lock.
  public func unlock(timeout: Duration = .seconds(120)) async throws(SecretError) {
    do throws(SecretError) {
      try await store.unlock(timeout: timeout)
    } catch {
      try annotatingErrors(nil) { () throws(SecretError) in throw error }
    }
  }

  /// Locks the store, for all programs that use it.
  ///
  /// - Throws: ``SecretError``: `.unsupported` from a store without a lock.
  public func lock() throws(SecretError) {
    try annotatingErrors(nil) { () throws(SecretError) in try store.lock() }
  }
}
