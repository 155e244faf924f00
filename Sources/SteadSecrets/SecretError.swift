import Foundation

/// Why a secret could not be read, stored or removed.
///
/// Compare ``code``, show ``message``, and see ``cause`` for the underlying error.
///
/// ```swift
/// do throws(SecretError) {
///   try secrets.insert(password, for: account)
/// } catch {
///   guard error.code == .duplicateItem else { throw error }
///   try secrets.update(password, for: account)
/// }
/// ```
///
/// The strings name services, accounts and files, with control characters escaped. They never contain a secret, or
/// the value of an attribute.
public struct SecretError: Error, Sendable {
  /// What went wrong, for comparison.
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

    /// The store is open, and has no such item.
    public static let notFound = Code(.notFound)
    /// The call was to create an item, and one already exists.
    public static let duplicateItem = Code(.duplicateItem)
    /// The item no longer holds what the caller expected.
    public static let changed = Code(.changed)
    /// The store, or the part of it with the item, is locked; nothing is known about the item.
    public static let locked = Code(.locked)
    /// The store has never been set up: no collection exists for items.
    public static let notInitialized = Code(.notInitialized)
    /// The store cannot be reached; ``SecretError/unavailability`` gives the reason.
    public static let unavailable = Code(.unavailable)
    /// The store requires something that only a person can provide, and prompts are not allowed.
    public static let interactionRequired = Code(.interactionRequired)
    /// The person dismissed the prompt, or the task was cancelled.
    public static let cancelled = Code(.cancelled)
    /// The process lacks the permission, or a file belongs to other users or is readable by them.
    public static let accessDenied = Code(.accessDenied)
    /// The secret exceeds the store's limit, or the store is full, or a vault has as many keys as it may have.
    public static let tooLarge = Code(.tooLarge)
    /// The store's contents differ from what was written.
    public static let corrupt = Code(.corrupt)
    /// The key or passphrase does not open the vault.
    public static let wrongKey = Code(.wrongKey)
    /// The vault is older than one that was seen before.
    public static let rolledBack = Code(.rolledBack)
    /// Another vault has replaced one that was seen before.
    public static let anotherVault = Code(.anotherVault)
    /// The store cannot perform the request; ``SecretError/feature`` names what it lacks.
    public static let unsupported = Code(.unsupported)
    /// The stored value isn't of the requested type, or the value cannot be encoded.
    public static let notDecodable = Code(.notDecodable)
    /// The name of a service, account or attribute is empty, too long or contains a NUL.
    public static let invalidName = Code(.invalidName)
    /// The disk or the user's quota is full.
    public static let noSpace = Code(.noSpace)
    /// The file was written by a newer version of the library, in a format that this version does not know.
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

    /// The library for the store isn't installed.
    public static let noLibrary = Unavailability(.noLibrary)
    /// No message bus exists to reach it.
    public static let noBus = Unavailability(.noBus)
    /// Nothing on the bus offers the service.
    public static let noService = Unavailability(.noService)
    /// It did not answer within the time limit.
    public static let timedOut = Unavailability(.timedOut)
    /// It disappeared during the call.
    public static let disconnected = Unavailability(.disconnected)
    /// The process was forked from the one with the connection.
    public static let forked = Unavailability(.forked)
    /// The system has no such store.
    public static let notOnThisSystem = Unavailability(.notOnThisSystem)
  }

  /// What went wrong, for comparison.
  public var code: Code
  /// What went wrong and what to do about it, in a sentence or two for a person. Control characters in the
  /// names that it mentions are escaped.
  public var message: String {
    didSet { message = message.shown }
  }
  /// The service of the affected item, if any.
  public var service: String?
  /// The account of the affected item, if any.
  public var account: String?
  /// Why the store cannot be reached, if the code is `.unavailable`.
  public var unavailability: Unavailability?
  /// What the store lacks, if the code is `.unsupported`.
  public var feature: SecretStoreFeature?
  /// The underlying error, if any.
  public var cause: (any Error)?

  /// Makes an error; the package does this, and a test or a custom store may, too.
  ///
  /// - Parameters:
  ///   - code: What went wrong, for comparison.
  ///   - message: The problem and the remedy. It must not contain a secret or the value of an attribute; its control characters are escaped.
  ///   - service: The service of the affected item, if any.
  ///   - account: The account of the affected item, if any.
  ///   - unavailability: Why the store cannot be reached, for `.unavailable`.
  ///   - feature: What the store lacks, for `.unsupported`.
  ///   - cause: The underlying error, whose description must not contain a secret either.
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
  /// The message, with the quoted service and account.
  public var description: String {
    let place = [service.map { "service \($0.quoted)" }, account.map { "account \($0.quoted)" }]
      .compactMap(\.self)
    return place.isEmpty ? message : "\(message) (\(place.joined(separator: ", ")))"
  }
  /// The message, with the service and the account.
  public var errorDescription: String? { description }
}

// MARK: - Names in messages

// Names and paths come from other programs and from files. Unescaped they could forge lines of a log, color a
// terminal, or end a quotation.
extension String {
  /// The string with control and format characters written as escapes, such as `\u{1B}`.
  var shown: String {
    // Nearly all messages are plain ASCII, and are not copied.
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    var shown = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      // Format characters, too: those for the direction of text can make a path read as another one.
      case .control, .format, .lineSeparator, .paragraphSeparator:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        shown.append(contentsOf: #"\u{\#(digits)}"#.unicodeScalars)
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// The string in quotation marks, with quotation marks and backslashes in it escaped.
  var quoted: String {
    var quoted = "\""
    for character in unicodeScalars {
      if character == "\"" || character == "\\" { quoted.unicodeScalars.append("\\") }
      quoted.unicodeScalars.append(character)
    }
    return quoted.shown + "\""
  }

  /// The string as one word of a shell command, whatever it contains.
  var shellQuoted: String {
    var quoted = "'"
    // By scalars, since a quotation mark with an accent is another character to Swift, but not to a shell.
    for scalar in unicodeScalars {
      quoted.unicodeScalars.append(
        contentsOf: (scalar == "'" ? #"'\''"# : "\(scalar)").unicodeScalars)
    }
    return quoted + "'"
  }
}
