import Foundation

/// How a history stores its payloads; the defaults suit most apps.
public struct PayloadHistoryOptions<Payload: Codable & Identifiable & Sendable>: Sendable {
  /// How a payload with large JSON is handled.
  public enum LargePayload: Sendable, Hashable {
    /// It is stored in a separate file when its JSON is longer than `over` bytes.
    ///
    /// In memory there are no files, and it stays with the others.
    case external(over: Int = 64 << 10)
    /// It is refused with ``PreferencesError/Code/tooLarge`` when its JSON is longer than `over`
    /// bytes.
    case refused(over: Int = 64 << 10)
  }

  /// How dates are written; both forms can always be read.
  public enum Dates: Sendable, Hashable {
    /// Seconds since 2001-01-01, as `JSONEncoder` writes by default.
    case secondsSince2001
    /// An ISO 8601 string in whole seconds, as `JSONEncoder.DateEncodingStrategy.iso8601` writes.
    case iso8601
  }

  /// The version of the payload's fields: raise it by one when old entries would no longer decode,
  /// and provide an upgrade for it.
  public var version: Int
  /// How entries of earlier versions become payloads. A version without an upgrade is read as the
  /// next.
  public var upgrades: [PayloadUpgrade<Payload>]
  /// The version of entries imported from the app's array.
  public var takenOverVersion: Int
  /// How a payload with large JSON is handled.
  public var largePayload: LargePayload
  /// How dates of new entries are written.
  public var dates: Dates
  /// Configures the decoder, once, before it is first used; for payloads that were encoded
  /// unusually.
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

// MARK: - Upgrades

/// How entries of an earlier payload version become payloads.
///
/// ```swift
/// options.version = 2
/// options.upgrades = [PayloadUpgrade(from: 1) { json in json["model"] = "unknown" }]
/// ```
///
/// An upgrade runs each time such an entry is read; the entry itself stays unchanged until it is
/// updated. So an upgrade can be corrected later, and an older program can still read its entries.
public struct PayloadUpgrade<Payload: Sendable>: Sendable {
  enum Step: Sendable {
    case fields(@Sendable (inout JSONObject) throws -> Void)
    case payload(@Sendable (Data, JSONDecoder) throws -> Payload)
  }

  /// The version that it upgrades from.
  public let version: Int
  let step: Step

  /// Changes the fields of an entry into those of the next version.
  ///
  /// - Parameters:
  ///   - version: The version that it upgrades from; the next one is `version + 1`.
  ///   - change: Changes the fields. If it throws, the entry counts as one that does not decode.
  public init(
    from version: Int, _ change: @escaping @Sendable (_ json: inout JSONObject) throws -> Void
  ) {
    self.version = version
    step = .fields(change)
  }

  /// Converts an entry of an earlier version directly to a payload of the newest.
  ///
  /// - Parameters:
  ///   - version: The version that it upgrades from.
  ///   - type: The payload's type in that version.
  ///   - convert: Converts it to the current type. If it throws, the entry counts as one that does
  ///     not decode.
  public init<Old: Decodable & SendableMetatype>(
    from version: Int, _ type: Old.Type,
    _ convert: @escaping @Sendable (Old) throws -> Payload
  ) {
    self.version = version
    step = .payload { json, decoder in
      let old: Old
      do {
        old = try decoder.decode(Old.self, from: json)
      } catch {
        throw UndecodableCause(decoding: error)
      }
      return try convert(old)
    }
  }
}
