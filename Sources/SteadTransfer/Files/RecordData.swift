public import Foundation
public import SteadRecords

/// The bytes in a property of a record.
///
/// ```swift
/// { RecordFile($0.data, extension: "jpg", of: $0.identifier) }
/// ```
///
/// A transfer's source reads it (`TransferSource.data(of:in:)`). Bytes in a file of their own are mapped, so that
/// they take memory only when they are read.
public struct RecordData: Sendable {
  /// The record.
  public let identifier: PersistentIdentifier
  /// The bytes.
  public let data: Data
}
