import Foundation

/// How a history stores its payloads; the defaults suit most apps.
public struct PayloadHistoryOptions<Payload: Codable & Identifiable & Sendable>: Sendable {
  /// How a payload with large JSON is handled.
  public enum LargePayload: Sendable, Hashable {
    /// It is stored in a separate file when its JSON is longer than `over` bytes.
    ///
    /// In memory there are no files, and it stays with the others.
    case external(over: Int = 64 << 10)
    /// It is refused with ``PreferencesError/Code/tooLarge`` when its JSON is longer than `over` bytes.
    case refused(over: Int = 64 << 10)
  }

  /// How dates are written; both forms can always be read.
  public enum Dates: Sendable, Hashable {
    /// Seconds since 2001-01-01, as `JSONEncoder` writes by default.
    case secondsSince2001
    /// An ISO 8601 string in whole seconds, as `JSONEncoder.DateEncodingStrategy.iso8601` writes.
    case iso8601
  }

  /// The version of the payload's fields: raise it by one when old entries would no longer decode, and
  /// provide an upgrade for it.
  public var version: Int
  /// How entries of earlier versions become payloads. A version without an upgrade is read as the next.
  public var upgrades: [PayloadUpgrade<Payload>]
  /// The version of entries imported from the app's array.
  public var takenOverVersion: Int
  /// How a payload with large JSON is handled.
  public var largePayload: LargePayload
  /// How dates of new entries are written.
  public var dates: Dates
  /// Configures the decoder, once, before it is first used; for payloads that were encoded unusually.
  public var configureDecoder: @Sendable (JSONDecoder) -> Void
  /// Configures the encoder, once, before it is first used.
  public var configureEncoder: @Sendable (JSONEncoder) -> Void
  /// The figures above which ``PayloadHistory/advice`` recommends records.
  package var adviceLimits = HistoryAdvice.Limits()

  /// Makes options: by default version 1, large payloads in files, dates as numbers.
  public init(
    version: Int = 1, upgrades: [PayloadUpgrade<Payload>] = [], takenOverVersion: Int = 1,
    largePayload: LargePayload = .external(), dates: Dates = .secondsSince2001,
    configureDecoder: @escaping @Sendable (JSONDecoder) -> Void = { _ in },
    configureEncoder: @escaping @Sendable (JSONEncoder) -> Void = { _ in }
  ) {
    self.version = version
    self.upgrades = upgrades
    self.takenOverVersion = takenOverVersion
    self.largePayload = largePayload
    self.dates = dates
    self.configureDecoder = configureDecoder
    self.configureEncoder = configureEncoder
  }
}

extension PayloadHistoryOptions {
  /// Refuses options that contradict each other.
  func check(key: String, limit: Int) throws {
    guard !key.isEmpty else { throw Self.invalid("The key of a history is empty.") }
    guard limit > 0 else { throw Self.invalid("The limit of a history must be at least 1.") }
    guard version > 0 else { throw Self.invalid("The version of a payload must be at least 1.") }
    guard takenOverVersion > 0, takenOverVersion <= version else {
      throw Self.invalid(
        "Entries cannot be imported with a version above the payload's own. Lower it.")
    }
    let sources = upgrades.map(\.version)
    guard Set(sources).count == sources.count else {
      throw Self.invalid("Two upgrades begin at the same version. Remove one of them.")
    }
    guard sources.allSatisfy({ $0 > 0 && $0 < version }) else {
      throw Self.invalid("An upgrade begins at the payload's version or above. Raise the version.")
    }
  }

  private static func invalid(_ message: String) -> PreferencesError {
    PreferencesError(code: .invalidOptions, message: message)
  }
}
