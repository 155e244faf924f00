import Foundation
internal import SteadSyncProtocol

/// A zone on this device as an engine uses it, whether its records are rows of models or keys with values.
///
/// Several processes may have the same zone open, each with an engine. The tables in the database are the truth; what
/// is in memory is read again after another process has written to them.
protocol SyncedZone: AnyObject {
  /// The zone's name on the server.
  var id: ZoneID { get }

  /// Runs a body in one transaction of the database, after the changes of programs were moved into the outbox. Rows or
  /// keys get the body's changes in the same transaction. If the body throws, nothing is changed.
  @discardableResult
  func write<Result>(_ body: (inout ClientZone<StoredRecords>) throws -> Result) throws -> Result
  /// Runs a body that only reads, on the state that a write would find.
  ///
  /// It does write if there is something to move into the outbox first. Otherwise it must not: a write would be a
  /// change for the engines of other processes, which would read and write in their turn.
  func read<Result>(_ body: (ClientZone<StoredRecords>) throws -> Result) throws -> Result
  /// Whether programs have changed anything since the last write of an engine. A key-value store, whose changes are in
  /// the outbox at once, answers whether any is pending.
  func hasLocalChanges() throws -> Bool
  /// How many transactions are pending and quarantined, and how many records no row can hold.
  func counts() throws -> (pending: Int, quarantined: Int, unshown: Int)
  /// The edits of this device that were overruled, oldest first.
  func conflicts() throws -> [SyncConflict]
  /// Removes all conflicts from the list.
  func clearConflicts() throws
  /// Removes a conflict from the list.
  func remove(_ conflict: SyncConflict) throws
  /// Calls a body after changes of programs, for the lifetime of the returned object.
  func watch(_ body: @escaping @Sendable () -> Void) -> any AnyObject & Sendable

  /// The bytes of a blob, from this device's data; nil if it no longer has them.
  func bytes(of blob: BlobID) throws -> Data?
  /// The blobs that records name, that this app's models can hold, and that this device lacks.
  func missingBlobs(of records: [Record]) throws -> [BlobID]
  /// Stores a fetched blob until the page that names it is applied. Throws if the bytes aren't those of the blob.
  func store(_ blob: BlobID, _ bytes: Data) throws
}

extension SyncedZone {
  /// How far pages were read; nil until the first fetch is complete.
  func cursor() throws -> Cursor? {
    try read { $0.state.anchor == nil ? nil : $0.state.cursor }
  }
}

// MARK: - Identifiers

/// New identifiers, each of 128 random bits in hexadecimal digits: no two devices ever draw the same.
enum RandomName {
  private static func text() -> String {
    func digits(_ number: UInt64) -> String {
      let text = String(number, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    return digits(.random(in: 0 ... .max)) + digits(.random(in: 0 ... .max))
  }

  /// An identity for a new record.
  static func record() -> RecordID { RecordID(stringLiteral: text()) }
  /// An identifier for a new numbering of transactions.
  static func client() -> ClientID { ClientID(stringLiteral: text()) }
  /// A name for this device until a server gives it another one.
  static func device() -> DeviceID { DeviceID(stringLiteral: text()) }
}
