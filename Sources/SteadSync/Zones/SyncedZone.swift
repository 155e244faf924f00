import Foundation
internal import SteadSyncProtocol

/// A zone on this device as an engine uses it, whether its records are rows of models or keys with values.
protocol SyncedZone: AnyObject {
  var id: ZoneID { get }

  /// Runs a body in one transaction, after the changes of programs were moved into the outbox. The body's changes are
  /// shown in the same transaction.
  @discardableResult
  func turn<Result>(_ body: (inout ClientZone<StoredRecords>) throws -> Result) throws -> Result
  /// Runs a body that only reads, on the state that a turn would find. Writes nothing if nothing has changed since
  /// the last turn.
  func peek<Result>(_ body: (ClientZone<StoredRecords>) throws -> Result) throws -> Result
  /// Whether programs have changed anything since the last turn.
  func hasNews() throws -> Bool
  /// How far pages were read; nil until the first fetch is complete.
  func cursor() throws -> Cursor?
  func counts() throws -> (pending: Int, quarantined: Int, unshown: Int)
  func conflicts() throws -> [SyncConflict]
  func clearConflicts() throws
  func forget(_ conflict: SyncConflict) throws
  /// Calls a body after changes of programs, for the lifetime of the returned object.
  func watch(_ body: @escaping @Sendable () -> Void) -> any AnyObject & Sendable

  func bytes(of blob: BlobID) throws -> Data?
  func missingBlobs(of records: [Record]) throws -> [BlobID]
  func keep(_ blob: BlobID, _ bytes: Data) throws
}

// MARK: - Identifiers

/// Names of 128 random bits.
enum RandomName {
  static func text() -> String {
    func digits(_ number: UInt64) -> String {
      let text = String(number, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    return digits(.random(in: 0 ... .max)) + digits(.random(in: 0 ... .max))
  }

  static func record() -> RecordID { RecordID(stringLiteral: text()) }
  static func client() -> ClientID { ClientID(stringLiteral: text()) }
  static func device() -> DeviceID { DeviceID(stringLiteral: text()) }
}
