import Foundation
import SteadFiles

/// What reading and writing rows of one entity needs besides the statement.
final class RowContext {
  /// nil for a row that represents no stored row.
  let labels: RowLabels?
  let blobs: BlobFiles?
  /// Whether required properties may have no value yet: a custom stage of a migration sets them.
  let acceptsMissingValues: Bool
  private(set) var error: SwiftDataError?
  /// The properties that were rejected since the last call of ``forgetRejections()``.
  private(set) var rejected: [Int] = []
  var row: Int64 = 0

  init(labels: RowLabels? = nil, blobs: BlobFiles? = nil, acceptsMissingValues: Bool = false) {
    self.labels = labels
    self.blobs = blobs
    self.acceptsMissingValues = acceptsMissingValues
  }

  func reject(property: Int, cause: (any Error)?) {
    if !rejected.contains(property) { rejected.append(property) }
    guard error == nil else { return }
    let name = labels.map { "\($0.entity).\($0.properties[property])" } ?? "property \(property)"
    error = .init(
      .unreadableValue,
      "\(name) of \(EntityReference.title(of: row)) does not hold a value of its type. "
        + "The row was left as it is; repair the column, or make the property's type accept what it holds.",
      cause: cause)
  }

  /// Notes that a value cannot be written; the save then throws.
  func refuse(property: Int, cause: any Error) {
    if !rejected.contains(property) { rejected.append(property) }
    guard error == nil else { return }
    if let failure = cause as? FileError {
      error = SwiftDataError(failure)
      return
    }
    let name = labels.map { "\($0.entity).\($0.properties[property])" } ?? "property \(property)"
    // An error of our own says what to do.
    let remedy =
      (cause as? ColumnError)?.description ?? "Give it a value that can be encoded."
    error = .init(
      .modelValidationFailure,
      "The value of \(name) cannot be encoded, so its object cannot be saved. \(remedy)",
      cause: cause)
  }

  func throwIfRejected() throws {
    if let error {
      forgetRejections()
      throw error
    }
  }

  func forgetRejections() {
    error = nil
    if !rejected.isEmpty { rejected = [] }
  }

  func transformer(for property: Int) throws -> ValueTransformer {
    let name = labels?.transformers[property] ?? ""
    guard let transformer = AttributeTransformers.transformer(named: name) else {
      throw ColumnError.noTransformer(name)
    }
    return transformer
  }
}

/// The names that rows of one entity need: for messages, and to find transformers.
struct RowLabels: Sendable {
  let entity: String
  let properties: [String]
  /// The name of each property's transformer, nil where it has none.
  let transformers: [String?]
}
