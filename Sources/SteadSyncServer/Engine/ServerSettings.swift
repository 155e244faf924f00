#if Server
import Foundation
import Logging
import SteadSQLite

/// The settings of a server.
package struct ServerSettings: Sendable {
  /// The directory with the keys, the blobs and, with SQLite, the database.
  package var directory: String
  /// The location of the database; by default a file in the directory.
  package var location: StorageEngine.Location
  /// The address to listen on; 127.0.0.1 by default, since TLS is a proxy's work.
  package var host: String
  /// The port; 0 for any free one.
  package var port: Int
  /// Proxies whose `X-Forwarded-For` is trusted.
  package var trustedProxies: [AddressRange]
  /// The maximum size of one owner's zones, in bytes.
  package var ownerQuota: Int64
  /// The requests per second that a device may make on average.
  package var requestsPerSecond: Double
  /// The number of requests that a device may make at once.
  package var requestBurst: Double

  /// The lowest level that is logged.
  package var logLevel: Logger.Level

  /// The settings of a server with SQLite in a directory, which need not exist yet. The defaults are those of `stead
  /// serve`.
  package init(directory: String) {
    self.directory = directory
    location = .sqlite(directory + "/stead.sqlite")
    host = "127.0.0.1"
    port = 8_787
    trustedProxies = []
    ownerQuota = 10 << 30
    requestsPerSecond = 20
    requestBurst = 200
    logLevel = .info
  }
}

/// A folder that the server needs.
enum ServerFolder {
  /// Creates a folder and its missing parents, each for its owner alone, but not the home.
  ///
  /// A missing home isn't mounted yet. The files in it would be hidden once it is.
  ///
  /// Throws ``ServerError`` if the home does not exist.
  static func make(_ path: String) throws {
    let files = FileManager.default
    guard !files.fileExists(atPath: path) else { return }
    let folder = URL(filePath: path, directoryHint: .isDirectory).standardizedFileURL
    // Before any parent is made, so that the recursion ends at the home.
    guard folder.path != files.homeDirectoryForCurrentUser.standardizedFileURL.path else {
      throw ServerError(
        .notFound, "The home directory does not exist, and is never created.",
        remedy: "Mount or create it, or name another directory.")
    }
    try make(folder.deletingLastPathComponent().path)
    // Another process or thread may create it first.
    try files.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }
}

/// The time in milliseconds since 1970, which tests set.
package struct ServerClock: Sendable {
  private let read: @Sendable () -> Int64

  /// Makes a clock of a function, which is called on any thread. Tests use one whose time they set.
  package init(_ read: @escaping @Sendable () -> Int64) { self.read = read }

  /// The system's clock.
  package static let system = ServerClock { Int64(Date().timeIntervalSince1970 * 1000) }

  /// Milliseconds since 1970.
  package var now: Int64 { read() }
}

/// A request that the server refused, or could not serve.
///
/// Its members are those of the JSON body of an answer; the status comes from the code. Neither string contains a
/// value that a client stored or sent.
package struct ServerError: Error, Sendable, Equatable {
  /// What happened, for programs: the `error` of an answer. The table of errors in SyncServer.md has the status of
  /// each.
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    private init(_ description: String) { self.description = description }

    /// The request isn't part of the protocol.
    package static let malformed = Code("malformed")
    /// The access token is missing or isn't valid.
    package static let unauthorized = Code("unauthorized")
    /// The device may not do this in the zone.
    package static let forbidden = Code("forbidden")
    /// The resource doesn't exist, or the user isn't a member of its zone.
    package static let notFound = Code("not_found")
    /// The request conflicts with the server's state.
    package static let conflict = Code("conflict")
    /// A push doesn't follow the client's last one.
    package static let gap = Code("gap")
    /// A push names blobs that the zone lacks.
    package static let missingBlobs = Code("missing_blobs")
    /// A cursor is older than the deletions that the zone keeps.
    package static let expired = Code("expired")
    /// The server lost changes that the cursor has seen.
    package static let rollback = Code("rollback")
    /// The client's schema is older than the zone demands.
    package static let schema = Code("schema")
    /// The zone needs the client's schema first.
    package static let schemaWanted = Code("schema_wanted")
    /// The client's schema contradicts the zone's.
    package static let schemaConflict = Code("schema_conflict")
    /// The request is larger than its limit.
    package static let tooLarge = Code("too_large")
    /// Too many requests.
    package static let tooMany = Code("too_many")
    /// The owner's quota is used up.
    package static let quota = Code("quota")
    /// The store can't be reached, or is full.
    package static let unavailable = Code("unavailable")
    /// The server has a fault.
    package static let failed = Code("failed")
  }

  /// Seconds until a request is sent again after the disk was full: an operator must make room.
  static let secondsForRepair = 30
  /// Seconds until a request is sent again after it arrived during a shutdown.
  static let secondsForStart = 5

  /// What happened, to compare.
  package var code: Code
  /// The problem.
  package var message: String
  /// The remedy.
  package var remedy: String
  /// Seconds until the request may be sent again: with ``Code/tooMany`` and ``Code/unavailable``.
  package var retryAfter: Int?
  /// Figures that belong to the error, such as limits.
  package var figures: [String: Int64]
  /// Identifiers that belong to the error, such as the hashes of missing blobs.
  package var names: [String: [String]]

  init(
    _ code: Code, _ message: String, remedy: String, retryAfter: Int? = nil,
    figures: [String: Int64] = [:], names: [String: [String]] = [:]
  ) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.retryAfter = retryAfter
    self.figures = figures
    self.names = names
  }
}

/// An IP address, or all that share its first bits: `10.0.0.0/8`.
package struct AddressRange: Sendable, Equatable {
  private let bytes: [UInt8]
  private let bits: Int

  /// Nil if the string is neither an address nor a range.
  package init?(_ text: String) {
    // A further slash is in the second part, which is no number then.
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let bytes = Self.bytes(String(parts[0])) else { return nil }
    self.bytes = bytes
    if parts.count == 1 {
      bits = bytes.count * 8
    } else {
      guard let bits = Int(parts[1]), (0...bytes.count * 8).contains(bits) else { return nil }
      self.bits = bits
    }
  }

  /// Whether an address begins with the range's bits. False for a string that isn't an address, and for an address of
  /// the other family.
  func contains(_ address: String) -> Bool {
    guard let other = Self.bytes(address), other.count == bytes.count else { return false }
    return (0..<bits).allSatisfy { bit in
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      return bytes[bit / 8] & mask == other[bit / 8] & mask
    }
  }

  /// The four or sixteen bytes of an address. An IPv4 address within IPv6 is an IPv4 address.
  private static func bytes(_ text: String) -> [UInt8]? {
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four, Array.init) }
    var sixteen = in6_addr()
    guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: sixteen, Array.init)
    // `::ffff:0:0/96`: an IPv4 address within IPv6 (RFC 4291, section 2.5.5.2).
    let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]
    return Array(bytes[..<12]) == mapped ? Array(bytes[12...]) : bytes
  }

  /// The address of a client behind proxies: the last one in `X-Forwarded-For` that isn't a trusted proxy's. The
  /// header counts only if the connection comes from a trusted proxy.
  ///
  /// It is read from its end. Each proxy appends the address that it got the request from, so only the last entries
  /// were written by trusted parties; a client can send the first ones itself and so evade the rate limit.
  static func client(of connection: String, forwarded: String?, trusted: [AddressRange]) -> String {
    guard let forwarded, trusted.contains(where: { $0.contains(connection) }) else {
      return connection
    }
    // If all entries are proxies', the first of them counts in the end.
    var client = connection
    for part in forwarded.split(separator: ",").reversed() {
      let address = part.trimmingCharacters(in: .whitespaces)
      // An entry that isn't an address was written by an untrusted party.
      guard bytes(address) != nil else { break }
      client = address
      // A trusted proxy wrote this entry about its peer, so the client can't have forged it.
      if !trusted.contains(where: { $0.contains(address) }) { break }
    }
    return client
  }
}
#endif
