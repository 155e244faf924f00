import Foundation
import SteadFiles

/// What reading and writing rows of one entity needs besides the statement, and the errors of the current row.
///
/// Slots read and bind without throwing, which keeps their loop fast. They record what fails here, and the loop throws it
/// once for each row.
final class RowContext {
  /// nil for a row that represents no stored row.
  let labels: RowLabels?
  /// The files of large values; nil in memory, where values stay in their columns.
  let blobs: BlobFiles?
  /// Whether required properties may have no value yet: a custom stage of a migration sets them.
  let acceptsMissingValues: Bool
  /// The first error since the last row was finished.
  private(set) var error: SwiftDataError?
  /// The properties that were rejected since the last call of ``forgetRejections()``.
  private(set) var rejected: [Int] = []
  /// The current row's number, for messages.
  var row: Int64 = 0

  /// Makes a context for the rows of one entity, which may be used for any number of rows, by one
  /// thread at a time.
  init(labels: RowLabels? = nil, blobs: BlobFiles? = nil, acceptsMissingValues: Bool = false) {
    self.labels = labels
    self.blobs = blobs
    self.acceptsMissingValues = acceptsMissingValues
  }

  /// Records that a column cannot be read. The first error is kept, for it to be thrown.
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

  /// Records that a value cannot be written; the save then throws.
  func refuse(property: Int, cause: any Error) {
    if !rejected.contains(property) { rejected.append(property) }
    guard error == nil else { return }
    // The disk's error has a remedy of its own.
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

  /// Throws the first error since the last call, and forgets it.
  func throwIfRejected() throws {
    if let error {
      forgetRejections()
      throw error
    }
  }

  /// Forgets the errors of the current row. A loop that has handled them otherwise calls this before the next row.
  func forgetRejections() {
    error = nil
    if !rejected.isEmpty { rejected = [] }
  }

  /// The transformer of a property.
  ///
  /// - Throws: ``ColumnError/noTransformer(_:)`` if none is registered.
  func transformer(for property: Int) throws -> ValueTransformer {
    let name = labels?.transformers[property] ?? ""
    guard let transformer = AttributeTransformers.transformer(named: name) else {
      throw ColumnError.noTransformer(name)
    }
    return transformer
  }
}

/// The names of an entity's properties and transformers, for messages and look-ups.
struct RowLabels: Sendable {
  /// The entity's name.
  let entity: String
  /// The name of each property.
  let properties: [String]
  /// The name of each property's transformer, nil where it has none.
  let transformers: [String?]
}

// MARK: - Columns and parameters

/// The result column or the parameter of each property in a statement, in memory that slots read without bounds checks.
final class PropertyMap {
  /// The column or parameter of each property, by its index; valid as long as the map.
  let places: UnsafeMutablePointer<Int32>

  /// Makes a map of a number of properties, each with the value that stands for none: -1 for
  /// columns, 0 for parameters.
  init(count: Int, empty: Int32) {
    // One at least: an allocation of nothing has no address to read.
    places = .allocate(capacity: max(count, 1))
    places.initialize(repeating: empty, count: max(count, 1))
  }

  deinit { places.deallocate() }
}

// MARK: - Transformers

/// The registry of transformers, by the names that attributes have.
enum AttributeTransformers {
  /// Registers a transformer, unless the program has registered one under that name.
  static func register(_ type: ValueTransformer.Type, as name: String) {
    let key = NSValueTransformerName(name)
    guard ValueTransformer(forName: key) == nil else { return }
    ValueTransformer.setValueTransformer(type.init(), forName: key)
  }

  /// The transformer with a name; nil if none is registered, and no class of that name exists.
  static func transformer(named name: String) -> ValueTransformer? {
    ValueTransformer(forName: NSValueTransformerName(name))
  }
}

// MARK: - Errors

/// Why a column does not hold a value of its property.
enum ColumnError: Error, CustomStringConvertible {
  /// NULL in a property that is not optional.
  case missingValue
  /// No transformer has the name.
  case noTransformer(String)
  /// The transformer returned nil, or a value of another type.
  case notTransformable
  /// The file of a large value does not exist.
  case missingFile
  /// The file of a large value has other bytes than were written, or the column has no name of a
  /// file.
  case damagedFile
  /// A `Decimal` in a value that is stored as JSON is NaN.
  case decimalNotANumber

  /// What is wrong, with the remedy if the program has one.
  var description: String {
    switch self {
    case .missingValue: "The column is NULL, but the property is not optional."
    case .noTransformer(let name):
      "No ValueTransformer is registered as \(name). Register it with "
        + "ValueTransformer.setValueTransformer(_:forName:) before the container is opened."
    case .notTransformable:
      "The transformer returned no data, or data that it cannot transform back."
    case .missingFile:
      "Its file is gone: another program has removed it, with the last row that referred to it. Set the property again."
    case .damagedFile:
      "Its file is damaged, or the column has something else than the name of a file: another program has written it. Set the "
        + "property again."
    case .decimalNotANumber:
      "A Decimal in it is not a number (NaN), which JSON lacks. Give it a number, or make it optional and set nil."
    }
  }
}
