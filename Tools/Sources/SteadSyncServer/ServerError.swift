/// A request that the server refused, or could not serve.
///
/// Neither string contains a value that a client stored or sent.
public struct ServerError: Error, Sendable, Equatable {
  /// What happened, for programs: the `error` of an answer.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    private init(_ description: String) { self.description = description }

    /// The request isn't part of the protocol.
    public static let malformed = Code("malformed")
    /// The access token is missing or isn't valid.
    public static let unauthorized = Code("unauthorized")
    /// The device may not do this in the zone.
    public static let forbidden = Code("forbidden")
    /// The resource doesn't exist, or the user isn't a member of its zone.
    public static let notFound = Code("not_found")
    /// The request conflicts with the server's state.
    public static let conflict = Code("conflict")
    /// A push doesn't follow the client's last one.
    public static let gap = Code("gap")
    /// A push names blobs that the zone lacks.
    public static let missingBlobs = Code("missing_blobs")
    /// A cursor is older than the deletions that the zone keeps.
    public static let expired = Code("expired")
    /// The server lost changes that the cursor has seen.
    public static let rollback = Code("rollback")
    /// The client's schema is older than the zone demands.
    public static let schema = Code("schema")
    /// The zone needs the client's schema first.
    public static let schemaWanted = Code("schema_wanted")
    /// The client's schema contradicts the zone's.
    public static let schemaConflict = Code("schema_conflict")
    /// The request is larger than its limit.
    public static let tooLarge = Code("too_large")
    /// Too many requests.
    public static let tooMany = Code("too_many")
    /// The owner's quota is used up.
    public static let quota = Code("quota")
    /// The store can't be reached, or is full.
    public static let unavailable = Code("unavailable")
    /// The server has a fault.
    public static let failed = Code("failed")
  }

  /// Seconds until a request is sent again after the disk was full: an operator must make room.
  static let secondsForRepair = 30
  /// Seconds until a request is sent again after it arrived during a shutdown.
  static let secondsForStart = 5

  public var code: Code
  /// The problem.
  public var message: String
  /// The remedy.
  public var remedy: String
  /// Seconds until the request may be sent again: with ``Code/tooMany`` and ``Code/unavailable``.
  public var retryAfter: Int?
  /// Figures that belong to the error, such as limits.
  public var figures: [String: Int64]
  /// Identifiers that belong to the error, such as the hashes of missing blobs.
  public var names: [String: [String]]

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
