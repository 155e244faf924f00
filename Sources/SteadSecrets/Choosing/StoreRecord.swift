import Foundation

/// Records which store contains a service's secrets.
///
/// It is a JSON file for each service. It contains no secret, account or attribute:
///
/// ```json
/// {
///   "place" : { "kind" : "vault" },
///   "reason" : "There is no message bus ...",
///   "service" : "org.example.Notes",
///   "since" : "2026-11-21T10:00:00Z",
///   "version" : 1
/// }
/// ```
struct StoreRecord: Hashable, Sendable {
  static let version = 1
  /// The largest file that is read, in bytes.
  static let sizeLimit = 1 << 16

  var service: String
  /// The store that contains the secrets.
  var address: StoreAddress
  /// When this store was chosen.
  var since: Date
  /// Why it was chosen.
  var reason: String
  /// The store from which they were moved, as long as copies may be left there.
  var leftover: StoreAddress?
}

extension StoreRecord {
  private struct Version: Codable { var version: Int }

  private struct Contents: Codable {
    var version: Int
    var service: String
    var place: StoreAddress
    var since: Date
    var reason: String
    var leftover: StoreAddress?
  }

  /// - Parameter path: The path to name in errors.
  init(_ json: Data, service: String, path: String) throws(SecretError) {
    func damaged(_ cause: (any Error)?) -> SecretError {
      SecretError(
        code: .corrupt,
        message:
          "\(path) does not name the store of the secrets. Restore it from a backup, or name "
          + "the location of the secrets in the program.",
        service: service, cause: cause)
    }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    do {
      let version = try decoder.decode(Version.self, from: json).version
      guard version <= Self.version else {
        throw SecretError(
          code: .newerVersion,
          message: "\(path) was written by a newer version. Update this program.",
          service: service)
      }
      let contents = try decoder.decode(Contents.self, from: json)
      // Not `==`, which treats some strings with different bytes as equal.
      guard version == Self.version, contents.service.utf8.elementsEqual(service.utf8) else {
        throw damaged(nil)
      }
      self.init(
        service: service, address: contents.place, since: contents.since, reason: contents.reason,
        leftover: contents.leftover)
    } catch let error as SecretError {
      throw error
    } catch {
      throw damaged(error)
    }
  }

  var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .iso8601
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(
        Contents(
          version: Self.version, service: service, place: address, since: since, reason: reason,
          leftover: leftover)) + Data("\n".utf8)
    }
  }
}
