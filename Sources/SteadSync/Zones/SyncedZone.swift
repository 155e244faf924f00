import Foundation
import SteadSyncProtocol

/// What an engine asks of a zone on this device, whether its records are rows of models or keys with values.
protocol SyncedZone: AnyObject {
  var id: ZoneID { get }

  /// Runs a body in one transaction, with what programs have changed since in the outbox; what the body changes is
  /// shown in the same transaction.
  @discardableResult
  func turn<Result>(_ body: (inout ClientZone<StoredRecords>) throws -> Result) throws -> Result
  /// Runs a body that changes nothing, on what a turn would find. Writes nothing where nobody has changed anything since
  /// the last turn.
  func peek<Result>(_ body: (ClientZone<StoredRecords>) throws -> Result) throws -> Result
  /// Whether programs have changed anything since the last turn.
  func hasNews() throws -> Bool
  /// How far pages were read; nil until they were read to the end once.
  func cursor() throws -> Cursor?
  func counts() throws -> (pending: Int, quarantined: Int, unshown: Int)
  func conflicts() throws -> [SyncConflict]
  func clearConflicts() throws
  func forget(_ conflict: SyncConflict) throws
  /// Calls a body after changes of programs, as long as what is returned lives.
  func watch(_ body: @escaping @Sendable () -> Void) -> any AnyObject & Sendable

  func bytes(of blob: BlobID) throws -> Data?
  func missingBlobs(of records: [Record]) throws -> [BlobID]
  func keep(_ blob: BlobID, _ bytes: Data) throws
}
