import Foundation
import SteadFiles
import SteadFormats

/// Converts payloads to their stored form and back. Calls the program's own code, so never under a lock.
struct PayloadCoder<Payload: Codable & Identifiable & Sendable>: Sendable {
  let key: String
  let options: PayloadHistoryOptions<Payload>
  let blobs: HistoryBlobs?
  // Configured once, here; coding changes neither.
  private let decoder: JSONDecoder
  private let encoder: JSONEncoder
  private let upgrades: [Int: PayloadUpgrade<Payload>.Step]

  init(key: String, options: PayloadHistoryOptions<Payload>, blobs: HistoryBlobs?) {
    self.key = key
    self.options = options
    self.blobs = blobs
    decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { try ISO8601Date.date(from: $0) }
    options.configureDecoder(decoder)
    encoder = Self.makeEncoder(options, dates: options.dates)
    upgrades = Dictionary(options.upgrades.map { ($0.version, $0.step) }) { first, _ in first }
  }

  /// Makes an encoder whose output for equal payloads is equal.
  static func makeEncoder(
    _ options: PayloadHistoryOptions<Payload>, dates: PayloadHistoryOptions<Payload>.Dates
  ) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    if dates == .iso8601 { encoder.dateEncodingStrategy = .iso8601 }
    options.configureEncoder(encoder)
    return encoder
  }

  // MARK: Writing

  /// The entry for a payload of the newest version.
  ///
  /// - Throws: ``PreferencesError``: `.notAPropertyList` when it cannot be encoded, `.tooLarge` when large
  ///   payloads are refused.
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
  func draft(takenOver json: Data) -> HistoryOperation.Draft {
    let version = options.takenOverVersion
    return draft(json, version: version, content: content(json, version: version))
  }

  private func draft(_ json: Data, version: Int, content: HistoryContent) -> HistoryOperation.Draft
  {
    guard case .external(let limit) = options.largePayload, json.count > limit, blobs != nil else {
      return HistoryOperation.Draft(
        stored: StoredEntry(version: version, body: .json(json)), content: content)
    }
    let reference = SHA256.hexadecimal(json)
    return HistoryOperation.Draft(
      stored: StoredEntry(version: version, body: .blob(reference)), content: content, blob: json)
  }

  // MARK: Reading

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
      do {
        guard let blobs else { throw FileError(code: .notFound, message: "", path: reference) }
        return .success(try blobs.read(reference))
      } catch {
        return .failure(
          UndecodableCause(
            reason: .unreadable,
            message: "The file that holds this large payload is missing or damaged.",
            cause: error))
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

  private func payload(_ json: Data, version: Int) throws -> Payload {
    guard version <= options.version else { throw UndecodableCause.newerVersion(version) }
    guard version < options.version, !upgrades.isEmpty else {
      return try decoder.decode(Payload.self, from: json)
    }
    var fields: JSONObject?
    for version in version..<options.version {
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
