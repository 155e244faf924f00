import SteadFiles

/// Why something could not be synced, and what to do.
public enum SyncError: Error, Hashable, Sendable {
  /// The store's sync was made by a later version.
  case newerFormat(found: Int64, known: Int64)
  /// The container has no configuration with a zone.
  case nothingToSync
  /// Several configurations name one zone.
  case zoneUsedTwice(String)
  /// The store keeps no history, which says what has to be sent.
  case noHistory(configuration: String)
  /// The store is of a kind that cannot be synced.
  case notARecordStore(configuration: String)
  /// A merge rule is for something that is no attribute of the store's models, or lies in external storage.
  case noSuchAttribute(String)
  /// A name is no identifier.
  case invalidName(String)
  /// A server of `stead serve` has no zone of that name.
  case notAServerZone(String)
  /// There are no credentials of this device.
  case notEnrolled
  /// An internal call came outside a transaction.
  case notInTransaction
  /// The server says that the app is too old to write.
  case appTooOld(minimum: Int)
  /// The app's models contradict those that other devices have synced.
  case schemaConflict
  /// The server does not let this device do that.
  case refused(status: Int, reason: String)
  /// The server asks to be left alone for some seconds.
  case busy(seconds: Double, reason: String)
  /// The server cannot be reached, or answers something else.
  case unreachable(reason: String)
}

extension SyncError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .newerFormat(let found, let known):
      "The store's sync tables have format \(found), and this version knows \(known). Update the app."
    case .nothingToSync:
      "No configuration of the container has a zone. Set `sync: .zone(…)` in a ModelConfiguration."
    case .zoneUsedTwice(let zone):
      "Two configurations name the zone \(zone). Give each a zone of its own."
    case .noHistory(let name):
      "The configuration \(name) has a zone and keeps no history. Set its `history` to `.on`."
    case .notARecordStore(let name):
      "The configuration \(name) is of a custom store, which cannot be synced. Use a ModelConfiguration."
    case .noSuchAttribute(let name):
      "A merge rule names \(name), which is no attribute of the store's models, or lies in external storage. Name a "
        + "stored attribute of the model itself."
    case .invalidName(let name):
      "\(name) is no name of a zone. Use 1 to 200 printable ASCII characters without spaces, quotation marks and "
        + "backslashes."
    case .notAServerZone(let name):
      "\(name) is no name of a zone of `stead serve`. Use 32 hexadecimal digits in lower case, the same on each device; "
        + "`openssl rand -hex 16` makes some."
    case .notEnrolled:
      "This device is not enrolled. Get a code from the server with `stead serve invite`, and call "
        + "HTTPSyncTransport.enrol(server:user:code:)."
    case .notInTransaction: "A zone was used outside a transaction. Please report this."
    case .appTooOld(let minimum):
      "The zone takes changes of schema \(minimum) and later. Update the app; until then it only reads."
    case .schemaConflict:
      "The app's models contradict those that other devices have synced. Give what has changed another name."
    case .refused(let status, let reason): "The server refuses with status \(status): \(reason)."
    case .busy(let seconds, let reason):
      "The server asks for a pause of \(seconds) s: \(reason). It is tried again then."
    case .unreachable(let reason): "The server cannot be reached: \(reason). It is tried again."
    }
  }
}

extension Stead.Problem.Code {
  /// The sync met a problem that has no code of its own; see the problem's message.
  public static let syncFailed = Self("syncFailed")
}

/// Reports problems that must not stop the program to `Stead.onProblem`.
enum SyncReport {
  /// - Parameter message: The problem and its remedy, without a stored value.
  static func problem(_ message: String) {
    Stead.report(
      Stead.Problem(code: .syncFailed, product: .sync, subject: "", message: message, cause: nil))
  }
}
