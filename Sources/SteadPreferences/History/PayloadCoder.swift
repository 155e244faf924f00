import Foundation
import SteadEncoding
import SteadFiles
import SteadFormats

/// Converts payloads to their stored form and back.
///
/// Calls the program's own code, so never under a lock.
struct PayloadCoder<Payload: Codable & Identifiable & Sendable>: Sendable {
  let key: String
  let options: PayloadHistoryOptions<Payload>
  let blobs: HistoryBlobs?
  // Configured once, here; coding changes neither.
  private let decoder: JSONDecoder
  private let encoder: JSONEncoder
  /// By the version from which they upgrade.
  private let upgrades: [Int: PayloadUpgrade<Payload>.Step]

  init(key: String, options: PayloadHistoryOptions<Payload>, blobs: HistoryBlobs?) {
    self.key = key
    self.options = options
    self.blobs = blobs
    decoder = JSONDecoder()
    // Both forms are read, whatever the options say: they may have been others when the entry was
    // written.
    decoder.dateDecodingStrategy = .custom { try ISO8601Date.date(from: $0) }
    // Last, so that the payload's own configuration wins.
    options.configureDecoder(decoder)
    encoder = Self.makeEncoder(options, dates: options.dates)
    upgrades = Dictionary(options.upgrades.map { ($0.version, $0.step) }) { first, _ in first }
  }

  /// Makes an encoder whose output for equal payloads is equal.
  static func makeEncoder(
    _ options: PayloadHistoryOptions<Payload>, dates: PayloadHistoryOptions<Payload>.Dates
  ) -> JSONEncoder {
    let encoder = JSONEncoder()
    // Equal payloads must give equal bytes: entries are compared by them, and blobs are named by
    // their digest.
    encoder.outputFormatting = .sortedKeys
    if dates == .iso8601 { encoder.dateEncodingStrategy = .iso8601 }
    options.configureEncoder(encoder)
    return encoder
  }

  // MARK: - Writing

  /// The entry for a payload of the newest version.
  ///
  /// - Throws: ``PreferencesError``: `.notAPropertyList` when it cannot be encoded, `.tooLarge`
  ///   when large payloads are refused.
  func draft(_ payload: Payload) throws -> HistoryOperation.Draft {
    let json: Data
    do {
      json = try encoder.encode(payload)
    } catch {
      throw PreferencesError(
        code: .notAPropertyList,
        message: "A payload of \(Payload.self) could not be encoded; correct what the cause names.",
        key: key, cause: error)
    }
    if case .refused(let limit) = options.largePayload, json.count > limit {
      throw PreferencesError(
        code: .tooLarge,
        message: "A payload has \(json.count) bytes, and \(limit) are allowed. Store large values "
          + "in a file, with its name in the payload, or allow large payloads to be kept in files.",
        key: key)
    }
    return draft(json, version: options.version, content: .payload(PayloadBox(payload), payload.id))
  }

  /// The entry for an element of the app's array, unchanged.
  func draft(importing json: Data) -> HistoryOperation.Draft {
    let version = options.takenOverVersion
    return draft(json, version: version, content: content(json, version: version))
  }

  /// Decides whether the JSON goes into the entry or into a file of its own.
  private func draft(_ json: Data, version: Int, content: HistoryContent) -> HistoryOperation.Draft
  {
    guard case .external(let limit) = options.largePayload, json.count > limit, blobs != nil else {
      return HistoryOperation.Draft(
        stored: StoredEntry(version: version, body: .json(json)), content: content)
    }
    // Content-addressed: equal payloads share one file, and a reference cannot lead to other bytes.
    let reference = SHA256.hexadecimal(json)
    return HistoryOperation.Draft(
      stored: StoredEntry(version: version, body: .blob(reference)), content: content, blob: json)
  }

  // MARK: - Reading

  /// The payload of an entry, or the reason why it could not be read.
  func content(_ stored: StoredEntry) -> HistoryContent {
    switch bytes(of: stored) {
    case .success(let json): content(json, version: stored.version)
    case .failure(let cause): .undecodable(cause)
    }
  }

  /// The JSON of an entry, wherever it is.
  func bytes(of stored: StoredEntry) -> Result<Data, UndecodableCause> {
    switch stored.body {
    case .json(let json): return .success(json)
    case .blob(let reference):
      var cause = UndecodableCause(
        reason: .unreadable,
        message: "The file that holds this large payload is missing or damaged.")
      // Without an error of its own: the reference is a stored value, which no error quotes.
      guard let blobs else { return .failure(cause) }
      do {
        return .success(try blobs.read(reference))
      } catch {
        cause.cause = error
        return .failure(cause)
      }
    case .other:
      return .failure(
        UndecodableCause(
          reason: .notAnEntry, message: "This entry was not written by PayloadHistory."))
    }
  }

  private func content(_ json: Data, version: Int) -> HistoryContent {
    do {
      let payload = try payload(json, version: version)
      return .payload(PayloadBox(payload), payload.id)
    } catch let cause as UndecodableCause {
      return .undecodable(cause)
    } catch {
      return .undecodable(UndecodableCause(decoding: error))
    }
  }

  /// Decodes JSON of any version, through the upgrades in order.
  ///
  /// Steps that change fields work on the JSON; one that makes a payload ends the chain.
  private func payload(_ json: Data, version: Int) throws -> Payload {
    guard version <= options.version else { throw UndecodableCause.newerVersion(version) }
    // The usual case: the newest version.
    guard version < options.version, !upgrades.isEmpty else {
      return try decoder.decode(Payload.self, from: json)
    }
    var fields: JSONObject?
    for version in version..<options.version {
      // A version without an upgrade is read as the next one.
      guard let step = upgrades[version] else { continue }
      do {
        switch step {
        case .payload(let make):
          return try make(fields.map { JSONValue.object($0).data } ?? json, decoder)
        case .fields(let change):
          var next = try fields ?? Self.fields(of: json)
          try change(&next)
          fields = next
        }
      } catch let cause as UndecodableCause {
        throw cause
      } catch {
        throw UndecodableCause(
          reason: .upgradeFailed,
          message: "The upgrade from version \(version) threw an error.", cause: error)
      }
    }
    return try decoder.decode(
      Payload.self, from: fields.map { JSONValue.object($0).data } ?? json)
  }

  private static func fields(of json: Data) throws -> JSONObject {
    guard case .object(let fields)? = JSONReader.value(of: json) else {
      throw UndecodableCause(
        reason: .doesNotDecode, message: "It isn't a JSON object, and cannot be upgraded.")
    }
    return fields
  }
}

// MARK: - Entries that do not decode

/// An entry of a history that this program cannot read; it is kept unchanged.
///
/// ``PayloadHistory/undecodable`` lists them. None is ever overwritten or dropped for the limit;
/// ``PayloadHistory/discardUndecodable(_:)`` removes selected ones.
public struct UndecodablePayload: Sendable {
  /// Why an entry cannot be read, for comparison.
  public struct Reason: Hashable, Sendable, CustomStringConvertible {
    private enum Name { case doesNotDecode, upgradeFailed, newerVersion, unreadable, notAnEntry }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The reason's name, for logs and metrics.
    public var description: String { "\(name)" }

    /// A field is missing or has another type, or the bytes aren't JSON.
    public static let doesNotDecode = Reason(.doesNotDecode)
    /// A ``PayloadUpgrade`` threw an error.
    public static let upgradeFailed = Reason(.upgradeFailed)
    /// A newer version of the program wrote it, with fields that this one does not know.
    public static let newerVersion = Reason(.newerVersion)
    /// The file of a large payload is missing, damaged, a symbolic link, or may not be read.
    ///
    /// It is read again after another writer has made a change other than adding entries in front
    /// and dropping the oldest.
    public static let unreadable = Reason(.unreadable)
    /// Another program has written a value into the history's domain.
    ///
    /// The entry's version is 0, and its bytes are a property list with the value under `value`.
    public static let notAnEntry = Reason(.notAnEntry)
  }

  /// The entry's position among all entries, including those that decode; the newest has 0.
  public let index: Int
  /// The version of the payload's fields with which it was written.
  public let version: Int
  /// The stored value: JSON in nearly all cases, and for ``Reason/notAnEntry`` a property list.
  /// Empty for ``Reason/unreadable``.
  public let bytes: Data
  /// Why it cannot be read, for comparison.
  public let reason: Reason
  /// Why it cannot be read, in a sentence for a person; it names fields and contains no value.
  public let message: String
  /// The underlying error, if any. Its descriptions may contain values.
  public let cause: (any Error)?
  /// Identifies the entry in the history.
  let sequence: UInt64
  let stored: StoredEntry
}

/// Why an entry does not decode.
struct UndecodableCause: Error, Sendable {
  var reason: UndecodablePayload.Reason
  var message: String
  var cause: (any Error)?
}

extension UndecodableCause {
  /// Wraps an error of a payload's own decoding. Descriptions of such errors may contain values;
  /// field names do not.
  init(decoding error: any Error) {
    self.init(
      reason: .doesNotDecode, message: Self.message(for: error), cause: error)
  }

  static func newerVersion(_ version: Int) -> UndecodableCause {
    UndecodableCause(
      reason: .newerVersion,
      message: "It has version \(version), which is newer than this program supports; update.")
  }

  /// A message that names the field and not its value.
  private static func message(for error: any Error) -> String {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context)?:
      "The field \(path(context.codingPath + [key])) is missing."
    case .valueNotFound(_, let context)?:
      "The field \(path(context.codingPath)) is null."
    case .typeMismatch(_, let context)?:
      "The field \(path(context.codingPath)) has another type."
    case .dataCorrupted(let context)? where !context.codingPath.isEmpty:
      "The field \(path(context.codingPath)) has a value that its type does not allow."
    case .dataCorrupted?: "It isn't JSON."
    default: "It could not be decoded."
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }
}
