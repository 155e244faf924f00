import SteadFiles

/// An error of the sync; its description includes a remedy.
///
/// Those of a configuration are thrown when an engine is made. Those of an exchange are thrown by
/// ``SyncEngine/syncNow()``; while an engine runs they appear as ``SyncStatus/Zone/problem``, and the exchange is
/// repeated. No description contains a stored value or a token.
///
/// ```swift
/// do {
///   try await engine.syncNow()
/// } catch SyncError.unreachable(let reason) {
///   print("Saved on this device, and sent later: \(reason)")
/// }
/// ```
public enum SyncError: Error, Hashable, Sendable {
  /// A later version of this package made the store's sync tables, or the file of a key-value store.
  case newerFormat(found: Int64, known: Int64)
  /// No configuration of the container has a zone.
  case nothingToSync
  /// Several configurations name one zone.
  case zoneUsedTwice(String)
  /// The store keeps no history, from which the sync learns what to send.
  case noHistory(configuration: String)
  /// This kind of store cannot be synced.
  case notARecordStore(configuration: String)
  /// A merge rule names something that isn't an attribute of the store's models, or is in external storage.
  case noSuchAttribute(String)
  /// A zone's name has other characters than the protocol allows: 1 to 200 of printable ASCII, without space, `"` and
  /// `\`.
  case invalidName(String)
  /// `stead serve` doesn't take a zone of this name.
  case notAServerZone(String)
  /// This device has no credentials. Thrown by ``HTTPSyncTransport/init(credentials:session:timeout:)``.
  case notEnrolled
  /// An internal call was made outside a transaction, which is a fault of this package.
  case notInTransaction
  /// The app is too old to write to this zone, since its owner has set a minimum. Pending changes stay until an update
  /// of the app.
  case appTooOld(minimum: Int)
  /// The app's models contradict the models that other devices have synced: a property has another merge rule, another
  /// delete rule or another kind.
  case schemaConflict
  /// The server refuses the request, with a status of HTTP. The same request would be refused again, until somebody
  /// changes something on the server: 401 if the device was revoked, 403 and 404 if the account may not use the zone.
  case refused(status: Int, reason: String)
  /// The server asks for a pause of some seconds. The engine sends the request again after it, but waits no longer
  /// than an hour.
  case busy(seconds: Double, reason: String)
  /// The server cannot be reached, or its answer isn't one of the protocol. The engine tries again.
  case unreachable(reason: String)
}

extension SyncError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .newerFormat(let found, let known):
      "The store's sync tables have format \(found), and this version supports \(known). Update the app."
    case .nothingToSync:
      "No configuration of the container has a zone. Set `sync: .zone(…)` in a ModelConfiguration."
    case .zoneUsedTwice(let zone):
      "Two configurations name the zone \(zone). Give each a zone of its own."
    case .noHistory(let name):
      "The configuration \(name) has a zone and keeps no history. Set its `history` to `.on`."
    case .notARecordStore(let name):
      "The configuration \(name) is of a custom store, which cannot be synced. Use a ModelConfiguration."
    case .noSuchAttribute(let name):
      "A merge rule names \(name), which isn't an attribute of the store's models, or is in external storage. Name a "
        + "stored attribute of the model itself."
    case .invalidName(let name):
      "\(name) isn't a zone's name. Use 1 to 200 printable ASCII characters without spaces, quotation marks and "
        + "backslashes."
    case .notAServerZone(let name):
      "`stead serve` doesn't take a zone named \(name). Use 32 hexadecimal digits in lower case, the same on each device; "
        + "`openssl rand -hex 16` makes some."
    case .notEnrolled:
      "This device is not enrolled. Get a code from the server with `stead serve invite`, and call "
        + "HTTPSyncTransport.enrol(server:user:code:)."
    case .notInTransaction: "A zone was used outside a transaction. Please report this."
    case .appTooOld(let minimum):
      "The zone accepts changes of schema \(minimum) and later. Update the app; until then it can only read."
    case .schemaConflict:
      "The app's models contradict the models that other devices have synced. Give changed properties new names."
    case .refused(let status, let reason):
      "The server refused the request with status \(status): \(reason)."
    case .busy(let seconds, let reason):
      "The server asks for a pause of \(seconds) s: \(reason). The request is then sent again."
    case .unreachable(let reason):
      "The server cannot be reached: \(reason). The request is sent again."
    }
  }
}

extension Stead.Problem.Code {
  /// A problem of the sync without a code of its own; see the problem's message.
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
