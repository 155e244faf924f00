import Foundation

/// Why a secret could not be read, kept or removed.
///
/// Compare ``code``, show ``message``, look into ``cause`` for what was found underneath. The texts
/// name services, accounts and files, and never hold a secret.
public struct SecretError: Error, Sendable {
  /// What went wrong, to compare with.
  public enum Code: Hashable, Sendable {
    /// The store was asked, is open, and has no such item.
    case notFound
    /// The call was to make an item, and there is one already.
    case duplicateItem
    /// The item no longer holds what the caller expected.
    case changed
    /// The store, or the part of it with the item, is locked; nothing is known of the item.
    case locked
    /// The store has never been set up: there is no collection to keep items in.
    case notInitialised
    /// The store cannot be reached.
    case unavailable(Unavailability)
    /// The store asks for something that only a person can give, and prompts are not allowed.
    case interactionRequired
    /// The person dismissed the prompt, or the task was cancelled.
    case cancelled
    /// The process may not do that, or a file belongs to others or could be read by them.
    case accessDenied
    /// The secret is larger than the store takes; the limit is in bytes.
    case tooLarge(limit: Int)
    /// The store holds something other than what was written.
    case corrupt
    /// The key or passphrase does not open the vault.
    case wrongKey
    /// The vault is older than one that was seen before.
    case rolledBack
    /// The store cannot do what was asked of it.
    case unsupported(SecretFeature)
    /// The stored value is not of the type that was asked for, or the value cannot be encoded.
    case notDecodable
    /// The name of a service, account or attribute is empty, too long or holds a NUL.
    case invalidName
    /// The disk is full, or the user's share of it is.
    case noSpace
    /// A newer version of the library made the file, in a format that this one does not know.
    case newerVersion
    /// The system failed in a way that has no code here; see ``SecretError/cause``.
    case failed
  }

  /// Why a store cannot be reached.
  public enum Unavailability: Hashable, Sendable {
    /// The library that leads to the store is not installed.
    case noLibrary
    /// There is no message bus to reach it by.
    case noBus
    /// Nothing on the bus offers the service.
    case noService
    /// It did not answer within the time limit.
    case timedOut
    /// It went away in the middle of the call.
    case disconnected
    /// The process was forked from the one that had the connection.
    case forked
    /// The system has no such store.
    case notOnThisSystem
  }

  /// What went wrong, to compare with.
  public var code: Code
  /// What went wrong and what to do, in a sentence or two for a person.
  public var message: String
  /// The service whose item it went wrong with, where there is one.
  public var service: String?
  /// The account whose item it went wrong with, where there is one.
  public var account: String?
  /// The error underneath, where there was one.
  public var cause: (any Error)?

  /// Makes an error; the package does this, and so may a test or a store of your own.
  public init(
    code: Code, message: String, service: String? = nil, account: String? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.service = service
    self.account = account
    self.cause = cause
  }
}

extension SecretError: CustomStringConvertible, LocalizedError {
  /// The message, with the service and the account.
  public var description: String {
    let place = [service.map { "service \($0)" }, account.map { "account \($0)" }]
      .compactMap(\.self)
    return place.isEmpty ? message : "\(message) (\(place.joined(separator: ", ")))"
  }
  /// The message, with the service and the account.
  public var errorDescription: String? { description }
}
