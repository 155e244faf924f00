import Foundation
import SteadEncoding
import SteadFiles

/// Which store contains a service's secrets, as a JSON file for each service.
///
/// It contains no secret, account or attribute:
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

// MARK: - JSON

extension StoreRecord {
  // Decoded first: a newer version may have other members.
  private struct Version: Codable { var version: Int }

  private struct Contents: Codable {
    var version: Int
    var service: String
    var place: StoreAddress
    var since: Date
    var reason: String
    var leftover: StoreAddress?
  }

  /// Parses a record's file.
  ///
  /// - Parameters:
  ///   - service: The service whose record it must be: a file's name may be a hash, or the file may be a copy.
  ///   - path: The path to name in errors.
  /// - Throws: ``SecretError``: `.corrupt`, `.newerVersion`.
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
      // A newer version may keep the secrets in a store that this one cannot name.
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

  /// The contents of the record's file.
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

// MARK: - File

/// The file of a service's record, `$XDG_CONFIG_HOME/stead/secrets/SERVICE.json`, and its lock next to it.
struct StoreRecordFile: Sendable {
  /// The longest service name that is spelled out, in bytes; a longer one is hashed.
  static let nameLimit = 200

  let service: String
  let url: URL

  init(service: String, in directory: URL) {
    self.service = service
    url = directory.appending(path: Self.stem(service) + ".json", directoryHint: .notDirectory)
  }

  var path: String { url.path(percentEncoded: false) }
  /// The lock of the service's writers.
  ///
  /// A file of its own, since the record is replaced by renaming: a lock on it would belong to the old file.
  var lock: URL { url.appendingPathExtension("lock") }

  /// The identity, size and time of the file, by which a change is noticed; nil if it does not exist. One
  /// system call.
  func stamp() throws(SecretError) -> Stamp? {
    try reading { try POSIXDisk().status(at: path).map(Stamp.init) }
  }

  /// Reads the record; nil if the file does not exist.
  ///
  /// - Throws: ``SecretError``: `.accessDenied` for a file that other users could have written or replaced,
  ///   since it determines where secrets go; `.corrupt`, `.newerVersion`.
  func read() throws(SecretError) -> StoreRecord? {
    let json: Data? = try reading {
      guard let status = try POSIXDisk().status(at: path) else { return nil }
      // Before the contents count for anything: whoever can write the record decides where secrets go.
      try FileSafety.checkWritableOnlyByOwner(path.directoryPath)
      try FileSafety.checkWritableOnlyByOwner(file: status, at: path)
      return try POSIXDisk().contents(of: path, limit: StoreRecord.sizeLimit)
    }
    guard let json else { return nil }
    return try StoreRecord(json, service: service, path: path)
  }

  /// Writes the first record, durably.
  ///
  /// - Throws: ``SecretError``: `.changed` when one already exists.
  func create(_ record: StoreRecord) throws(SecretError) {
    try writing {
      do {
        // Created and not replaced: of two processes that write a first secret, the second has to use the first one's
        // store.
        try AtomicFile(url).create(with: record.json)
      } catch let error as FileError where error.code == .alreadyExists {
        throw SecretError(
          code: .changed, message: "Another process has just written \(path). Try again.",
          service: service, cause: error)
      }
    }
  }

  /// Durably replaces the record.
  func replace(with record: StoreRecord) throws(SecretError) {
    try writing { try AtomicFile(url).replace(with: record.json, permissions: .ownerOnly) }
  }

  /// What distinguishes a version of the file from another one.
  struct Stamp: Hashable {
    private var identity: FileStatus.Identity
    private var size: Int64
    private var modified: Date

    init(_ status: FileStatus) {
      (identity, size, modified) = (status.identity, status.size, status.modified)
    }
  }
}

extension StoreRecordFile {
  /// The name of a service's files without an extension: its UTF-8 with `%XX` for everything except letters,
  /// digits, `-`, `_` and `.`, or the digest of a name that would be too long.
  ///
  /// No two services have the same: an encoded name can be decoded, and a digest begins as no encoded name does.
  static func stem(_ service: String) -> String {
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.".utf8)
    let hexadecimal = Array("0123456789ABCDEF".utf8)
    var name: [UInt8] = []
    for byte in service.utf8 {
      // An encoded first dot: no hidden files, and none of the names "." and "..".
      if plain.contains(byte), !(name.isEmpty && byte == UInt8(ascii: ".")) {
        name.append(byte)
      } else {
        name += [
          UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)],
        ]
      }
    }
    guard name.count <= nameLimit else {
      // "%2" followed by "s" encodes no byte, so no spelled-out name is the same.
      return "%2sha256-\(SHA256.hexadecimal(service.utf8))"
    }
    return String(decoding: name, as: UTF8.self)
  }

  private func reading<Result>(_ body: () throws -> Result) throws(SecretError) -> Result {
    try SecretError.files(body)
  }

  private func writing(_ body: () throws -> Void) throws(SecretError) {
    try SecretError.files {
      try POSIXDisk().makeDirectories(path.directoryPath)
      try FileSafety.checkWritableOnlyByOwner(path.directoryPath)
      try body()
    }
  }
}
