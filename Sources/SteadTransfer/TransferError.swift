public import Foundation
import SteadPreferences
import SteadRecords
import SteadSecrets

/// The error of a transfer or an import.
///
/// Compare ``code``, show ``message``, look into ``cause``. The strings name keys, rows and files,
/// and never contain a stored value, so they can be logged.
///
/// ```swift
/// do {
///   try transfer.run()
/// } catch let error as TransferError where error.code == .conflict {
///   for failure in error.failures { print(failure.item, failure.reason) }
/// }
/// ```
public struct TransferError: Error, Sendable {
  /// The kind of error, for comparisons.
  ///
  /// Later versions add more.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private init(_ name: String) { self.name = name }

    /// The code's name, for logs and metrics.
    public var description: String { name }

    /// The source cannot be read as items. It is unchanged.
    public static let unreadable = Code("unreadable")
    /// Items could not be read or converted, and ``TransferOptions/acceptsPartial`` is false.
    /// Nothing was written.
    public static let notConverted = Code("notConverted")
    /// Places in the destination are taken. Nothing was written, unless the message says how many
    /// items were.
    public static let conflict = Code("conflict")
    /// The destination doesn't return what was written to it. The source is unchanged.
    public static let notVerified = Code("notVerified")
    /// The source changed while it was being read, or another process ran the same transfer. Run
    /// again.
    public static let changed = Code("changed")
    /// Source or destination are of a kind or a version that isn't supported.
    public static let unsupported = Code("unsupported")
    /// Source or destination failed; see ``TransferError/cause``.
    public static let failed = Code("failed")
  }

  /// The kind of error, for comparisons.
  public var code: Code
  /// The problem and the remedy, in a sentence or two for a person.
  public var message: String
  /// The items that the error is about.
  public var failures: [TransferFailure]
  /// The underlying error, if one exists.
  public var cause: (any Error)?
  /// For a destination's conflict, what is in the place of each element, in the order of
  /// `failures`. A run resolves conflicts by them.
  var conflicts: [ElementConflict] = []

  /// Makes an error; the package does this, and so may a test.
  public init(
    code: Code, message: String, failures: [TransferFailure] = [], cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.failures = failures
    self.cause = cause
  }

  /// The error of a destination for elements whose places are taken.
  static func conflict(_ message: String, _ conflicts: [ElementConflict]) -> Self {
    var error = Self(code: .conflict, message: message, failures: conflicts.map(\.failure))
    error.conflicts = conflicts
    return error
  }

  /// The error for elements whose unique values records or other elements have.
  static func conflict(ofUniqueValues conflicts: [ElementConflict]) -> Self {
    let remedy = "Nothing was written; say in the transfer's options what becomes of these items, "
    // "Delete the records" would be wrong advice for a conflict among the source's own items.
    guard !conflicts.allSatisfy({ $0.occupant?.isElement == true }) else {
      return conflict(
        "Several items of the source have the same unique values. \(remedy)or give them other values.",
        conflicts)
    }
    return conflict(
      "Records, or other items of the source, have the same unique values. \(remedy)give them other "
        + "values, or delete the records.", conflicts)
  }
}

extension TransferError: CustomStringConvertible, LocalizedError {
  /// The maximum number of failures that the description lists.
  public static let describedFailureLimit = 5

  /// The message, the first failures, and the sentence of the cause.
  public var description: String {
    // Some messages end with the cause's already.
    guard let sentence = causeSentence, !message.contains(sentence) else { return summary }
    return "\(summary) \(sentence)"
  }

  private var summary: String {
    let listed = failures.prefix(Self.describedFailureLimit).map(\.description)
    let rest = failures.count - listed.count
    let lines = rest > 0 ? listed + ["and \(rest) more"] : listed
    return lines.isEmpty ? message : message + " " + lines.joined(separator: "; ")
  }

  /// As ``description``.
  public var errorDescription: String? { description }

  /// The cause's message. Descriptions of other errors may quote stored values, so only types that
  /// are known not to are used.
  private var causeSentence: String? {
    switch cause {
    case let error as TransferError: error.message
    // Messages of this package's errors never contain a value.
    case let error as SecretError: error.message
    case let error as SwiftDataError: error.message.isEmpty ? "\(error.code)" : error.message
    default: cause?.valueFreeSentence
    }
  }
}

// MARK: - Failures of items

/// An item that was not moved, and the reason.
public struct TransferFailure: Sendable, CustomStringConvertible {
  /// The item's position in the source: an index, a key, a line. It never contains the item's
  /// value.
  public var item: String
  /// Why the item stays in the source.
  public var reason: String
  /// The underlying error, which may contain a value.
  public var cause: (any Error)?

  /// Makes a failure; the package does this, and so may a test.
  public init(item: String, reason: String, cause: (any Error)? = nil) {
    self.item = item
    self.reason = reason
    self.cause = cause
  }

  /// Item and reason.
  public var description: String { "\(item): \(reason)" }
}

extension TransferFailure {
  /// A failure with the reason that an error gives, as far as that can't contain a stored value.
  /// The error itself may; it becomes the cause.
  init(item: String, becauseOf error: any Error) {
    self.init(item: item, reason: Self.reason(error), cause: error)
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as TransferError:
      error.message
    case let error as PreferencesError:
      // What didn't decode is in the cause.
      (error.cause as? DecodingError).map { sentences(of: $0) } ?? error.message
    case let error as DecodingError: sentences(of: error)
    default:
      error.valueFreeSentence ?? "It could not be converted (\(type(of: error)))."
    }
  }

  /// What to do about an item that isn't of the type that is asked for.
  static let remedyForType = "Correct it in the source, or ask for a type that reads it."
  /// What to do about an item that lacks a part.
  private static let remedyForGap = "Add it in the source, or make the property optional."

  /// What did not decode, by its field and never by its value, and the remedy.
  private static func sentences(of error: DecodingError) -> String {
    switch error {
    case .typeMismatch(let type, let context):
      "\(subject(context.codingPath)) isn't \(kind(type)). \(remedyForType)"
    // A null, or an array that ends before the value.
    case .valueNotFound(let type, let context):
      "\(subject(context.codingPath)) has no value that is \(kind(type)). \(remedyForGap)"
    case .keyNotFound(let key, let context):
      "\(subject(context.codingPath + [key])) is missing. \(remedyForGap)"
    // The document as a whole, of which no path leads to a part.
    case .dataCorrupted(let context)
    where context.codingPath.isEmpty && context.underlyingError != nil:
      "The data is damaged, or has another format. Correct it in the source."
    // A raw value of no case, a number that is too large, a text that is no date: nothing is damaged.
    case .dataCorrupted(let context):
      "\(subject(context.codingPath)) has a form that its type does not read. \(remedyForType)"
    @unknown default: "It could not be decoded. \(remedyForType)"
    }
  }

  /// A type as a sentence names it.
  private static func kind(_ type: Any.Type) -> String {
    // What decoders name if a container is asked for.
    if type == [String: Any].self { return "a dictionary" }
    if type == [Any].self { return "an array" }
    return "of the type \(type)"
  }

  /// The field at a path, or the item itself.
  private static func subject(_ keys: [any CodingKey]) -> String {
    var names: [String] = []
    for key in keys {
      // Only a case of an enum is certainly a name of the program's. A dictionary's key is a stored value.
      let mirror = Mirror(reflecting: key)
      let isDeclared = mirror.displayStyle == .enum && mirror.children.isEmpty
      let name = isDeclared ? key.stringValue : "…"
      // Successive keys that are not named need one sign.
      if isDeclared || names.last != name { names.append(name) }
    }
    if names.isEmpty { return "It" }
    return names == ["…"] ? "A value in it" : "The field \(names.joined(separator: "."))"
  }
}
