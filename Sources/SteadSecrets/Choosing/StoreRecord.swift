import Foundation

/// The note of which store holds a service's secrets.
///
/// It is a JSON file for each service. It holds no secret, no account and no attribute:
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
  /// The longest file that is read, in bytes.
  static let sizeLimit = 1 << 16

  var service: String
  /// The store with the secrets.
  var address: StoreAddress
  /// When this store became the one.
  var since: Date
  /// Why it did.
  var reason: String
  /// The store that they were moved from, as long as copies may be left there.
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

  /// - Parameter path: What errors are to name.
  init(_ json: Data, service: String, path: String) throws(SecretError) {
    func damaged(_ cause: (any Error)?) -> SecretError {
      SecretError(
        code: .corrupt,
        message: "\(path) does not say where the secrets are. Restore it from a backup, or name "
          + "the place of the secrets in the program.",
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
      // Not `==`, for which texts are the same whose bytes are not.
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
