import Foundation

/// Why a secret could not be read, kept or removed.
///
/// Compare ``code``, show ``message``, look into ``cause`` for what was found underneath. The texts
/// name services, accounts and files, and never hold a secret.
public struct SecretError: Error, Sendable {
  /// What went wrong, to compare with.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name {
      case notFound, duplicateItem, changed, locked, notInitialized, unavailable
      case interactionRequired, cancelled, accessDenied, tooLarge, corrupt, wrongKey, rolledBack,
        anotherVault
      case unsupported, notDecodable, invalidName, noSpace, newerVersion, failed
    }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The code's name, for logs and metrics.
    public var description: String { "\(name)" }

    /// The store was asked, is open, and has no such item.
    public static let notFound = Code(.notFound)
    /// The call was to make an item, and there is one already.
    public static let duplicateItem = Code(.duplicateItem)
    /// The item no longer holds what the caller expected.
    public static let changed = Code(.changed)
    /// The store, or the part of it with the item, is locked; nothing is known of the item.
    public static let locked = Code(.locked)
    /// The store has never been set up: there is no collection to keep items in.
    public static let notInitialized = Code(.notInitialized)
    /// The store cannot be reached; ``SecretError/unavailability`` has the reason.
    public static let unavailable = Code(.unavailable)
    /// The store asks for something that only a person can give, and prompts are not allowed.
    public static let interactionRequired = Code(.interactionRequired)
    /// The person dismissed the prompt, or the task was cancelled.
    public static let cancelled = Code(.cancelled)
    /// The process may not do that, or a file belongs to others or could be read by them.
    public static let accessDenied = Code(.accessDenied)
    /// The secret is larger than the store takes, or the store is full.
    public static let tooLarge = Code(.tooLarge)
    /// The store holds something other than what was written.
    public static let corrupt = Code(.corrupt)
    /// The key or passphrase does not open the vault.
    public static let wrongKey = Code(.wrongKey)
    /// The vault is older than one that was seen before.
    public static let rolledBack = Code(.rolledBack)
    /// Another vault is where one was seen before.
    public static let anotherVault = Code(.anotherVault)
    /// The store cannot do what was asked of it; ``SecretError/feature`` is what it lacks.
    public static let unsupported = Code(.unsupported)
    /// The stored value is not of the type that was asked for, or the value cannot be encoded.
    public static let notDecodable = Code(.notDecodable)
    /// The name of a service, account or attribute is empty, too long or holds a NUL.
    public static let invalidName = Code(.invalidName)
    /// The disk is full, or the user's share of it is.
    public static let noSpace = Code(.noSpace)
    /// A newer version of the library made the file, in a format that this one does not know.
    public static let newerVersion = Code(.newerVersion)
    /// The system failed in a way that has no code here; see ``SecretError/cause``.
    public static let failed = Code(.failed)
  }

  /// Why a store cannot be reached.
  public struct Unavailability: Hashable, Sendable, CustomStringConvertible {
    private enum Name {
      case noLibrary, noBus, noService, timedOut, disconnected, forked, notOnThisSystem
    }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The reason's name, for logs and metrics.
    public var description: String { "\(name)" }

    /// The library that leads to the store is not installed.
    public static let noLibrary = Unavailability(.noLibrary)
    /// There is no message bus to reach it by.
    public static let noBus = Unavailability(.noBus)
    /// Nothing on the bus offers the service.
    public static let noService = Unavailability(.noService)
    /// It did not answer within the time limit.
    public static let timedOut = Unavailability(.timedOut)
    /// It went away in the middle of the call.
    public static let disconnected = Unavailability(.disconnected)
    /// The process was forked from the one that had the connection.
    public static let forked = Unavailability(.forked)
    /// The system has no such store.
    public static let notOnThisSystem = Unavailability(.notOnThisSystem)
  }

  /// What went wrong, to compare with.
  public var code: Code
  /// What went wrong and what to do, in a sentence or two for a person. Control characters in the names that
  /// it mentions are written as escapes.
  public var message: String {
    didSet { message = message.shown }
  }
  /// The service whose item it went wrong with, where there is one.
  public var service: String?
  /// The account whose item it went wrong with, where there is one.
  public var account: String?
  /// Why the store cannot be reached, of an error whose code is `.unavailable`.
  public var unavailability: Unavailability?
  /// What the store lacks, of an error whose code is `.unsupported`.
  public var feature: SecretStoreFeature?
  /// The error underneath, where there was one.
  public var cause: (any Error)?

  /// Makes an error; the package does this, and so may a test or a store of your own.
  public init(
    code: Code, message: String, service: String? = nil, account: String? = nil,
    unavailability: Unavailability? = nil, feature: SecretStoreFeature? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message.shown
    self.service = service
    self.account = account
    self.unavailability = unavailability
    self.feature = feature
    self.cause = cause
  }
}

extension SecretError: CustomStringConvertible, LocalizedError {
  /// The message, with the service and the account between quotation marks.
  public var description: String {
    let place = [service.map { "service \($0.quoted)" }, account.map { "account \($0.quoted)" }]
      .compactMap(\.self)
    return place.isEmpty ? message : "\(message) (\(place.joined(separator: ", ")))"
  }
  /// The message, with the service and the account.
  public var errorDescription: String? { description }
}
