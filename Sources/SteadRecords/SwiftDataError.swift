public import Foundation
import SteadFiles

/// A failure of a container, a context or a store, and its remedy.
///
/// Compare ``code``, show ``message``, examine ``cause``. Or compare with the static values, as with SwiftData's:
/// `catch SwiftDataError.modelValidationFailure`. Two errors are equal if their codes are.
public struct SwiftDataError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure, to compare with; later versions add more.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// The code's name, for logs and metrics.
    public var description: String { name }
  }

  /// The kind of failure, to compare with.
  public let code: Code
  /// What happened, and the remedy; names entities and properties, never a stored value.
  public let message: String
  /// The message if a save throws the error, whose changes are then still pending; nil for the same message.
  private let messageOfSave: String?
  /// The underlying error.
  public let cause: (any Error)?
  /// Whether a container could not be opened.
  private(set) var isOfOpening = false

  init(
    _ code: Code, _ message: String = "", ofSave messageOfSave: String? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.messageOfSave = messageOfSave
    self.cause = cause
  }

  public static func == (left: SwiftDataError, right: SwiftDataError) -> Bool {
    left.code == right.code
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  /// Whether an error has a code, for `catch`.
  ///
  /// `loadIssueModelContainer` matches every error that opening a container throws, as SwiftData has no other for them;
  /// ``code`` tells which one it is.
  public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool {
    guard let error = error as? SwiftDataError else { return false }
    return error == pattern || (pattern == .loadIssueModelContainer && error.isOfOpening)
  }

  /// The error that a save throws for another one.
  static func ofSave(_ error: any Error) -> any Error {
    guard let known = error as? SwiftDataError, let message = known.messageOfSave else {
      return error
    }
    return SwiftDataError(known.code, message, cause: known.cause)
  }

  /// The error that opening a container throws for another one.
  static func ofOpening(_ error: any Error) -> SwiftDataError {
    var result =
      error as? SwiftDataError
      ?? SwiftDataError(
        .loadIssueModelContainer, "The container was not opened, for the reason that follows.",
        cause: error)
    result.isOfOpening = true
    return result
  }

  public var description: String {
    message.isEmpty ? "\(code)\(causeSuffix)" : "\(code): \(sentences)"
  }

  private var sentences: String { message + causeSuffix }

  private var causeSuffix: String {
    // A message may end with its cause.
    guard let causeText, !message.contains(causeText) else { return "" }
    return " (\(causeText))"
  }

  private var causeText: String? { cause.map(Self.text(of:)) }

  /// What an underlying error says, without what Foundation quotes of a value.
  static func text(of cause: any Error) -> String {
    switch cause {
    case let error as DecodingError: error.sentenceWithoutValue
    case let error as EncodingError: error.sentenceWithoutValue
    // What opening a container throws has the code itself.
    case let error as SwiftDataError
    where error.code == SwiftDataError.loadIssueModelContainer.code && !error.message.isEmpty:
      error.sentences
    default: "\(cause)"
    }
  }

  public static let includePendingChangesWithBatchSize = Self(.includePendingChangesWithBatchSize)
  public static let sortingPendingChangesWithIdentifiers = Self(
    .sortingPendingChangesWithIdentifiers)
  public static let unsupportedKeyPath = Self(.unsupportedKeyPath)
  public static let unsupportedPredicate = Self(.unsupportedPredicate)
  public static let unsupportedSortDescriptor = Self(.unsupportedSortDescriptor)
  public static let historyTokenExpired = Self(.historyTokenExpired)
  public static let invalidTransactionFetchRequest = Self(.invalidTransactionFetchRequest)
  public static let configurationFileNameContainsInvalidCharacters = Self(
    .configurationFileNameContainsInvalidCharacters)
  public static let configurationFileNameTooLong = Self(.configurationFileNameTooLong)
  public static let configurationSchemaNotFoundInContainerSchema = Self(
    .configurationSchemaNotFoundInContainerSchema)
  public static let duplicateConfiguration = Self(.duplicateConfiguration)
  public static let loadIssueModelContainer = Self(.loadIssueModelContainer)
  public static let modelValidationFailure = Self(.modelValidationFailure)
  public static let missingModelContext = Self(.missingModelContext)
  public static let backwardMigration = Self(.backwardMigration)
  public static let unknownSchema = Self(.unknownSchema)
}

extension SwiftDataError: LocalizedError {
  /// What happened and the remedy, for alerts and `localizedDescription`.
  public var errorDescription: String? { message.isEmpty ? description : message }

  /// What the underlying error says, without what Foundation quotes of a value.
  public var failureReason: String? {
    switch cause {
    case is DecodingError, is EncodingError: causeText
    default: (cause as? any LocalizedError)?.errorDescription ?? causeText
    }
  }
}

extension SwiftDataError {
  /// The disk is full.
  public static let storageFull = Self(.storageFull)
  /// The disk failed.
  public static let storageFailure = Self(.storageFailure)
  /// Another process keeps the store locked.
  public static let storeLocked = Self(.storeLocked)
  /// SQLite refused a statement.
  public static let storeFailure = Self(.storeFailure)
  /// The store was opened read-only, or its file is read-only.
  public static let readOnlyStore = Self(.readOnlyStore)
  /// The file is not a store, or is damaged.
  public static let unreadableStore = Self(.unreadableStore)
  /// A column holds something other than a value of its property's type.
  public static let unreadableValue = Self(.unreadableValue)
  /// A relationship names an inverse that doesn't lead back to it.
  public static let invalidInverse = Self(.invalidInverse)
  /// Two models of a schema have the same name.
  public static let duplicateModel = Self(.duplicateModel)
  /// `#Unique` or `#Index` names something other than a stored property.
  public static let unknownProperty = Self(.unknownProperty)
  /// Two models or properties have names that map to the same table or column.
  public static let nameClash = Self(.nameClash)
  /// A delete rule forbids the deletion.
  public static let deletionDenied = Self(.deletionDenied)
  /// A backup would have replaced a file, or written large values through a symbolic link.
  public static let fileExists = Self(.fileExists)
  /// Work on a store's file was requested within a transaction.
  public static let transactionOpen = Self(.transactionOpen)
  /// An object of another context was inserted, deleted or linked.
  public static let foreignModel = Self(.foreignModel)
  /// An object's class is not in the container's schema.
  public static let unknownModel = Self(.unknownModel)
  /// `save()` was called by an observer of `willSave`.
  public static let saveInProgress = Self(.saveInProgress)
  /// A store does not keep rows' values from before they were changed.
  public static let oldValuesMissing = Self(.oldValuesMissing)
}

extension SwiftDataError.Code {
  // As SwiftData spells them.
  public static let includePendingChangesWithBatchSize = Self("includePendingChangesWithBatchSize")
  public static let sortingPendingChangesWithIdentifiers = Self(
    "sortingPendingChangesWithIdentifiers")
  public static let unsupportedKeyPath = Self("unsupportedKeyPath")
  public static let unsupportedPredicate = Self("unsupportedPredicate")
  public static let unsupportedSortDescriptor = Self("unsupportedSortDescriptor")
  public static let historyTokenExpired = Self("historyTokenExpired")
  public static let invalidTransactionFetchRequest = Self("invalidTransactionFetchRequest")
  public static let configurationFileNameContainsInvalidCharacters = Self(
    "configurationFileNameContainsInvalidCharacters")
  public static let configurationFileNameTooLong = Self("configurationFileNameTooLong")
  public static let configurationSchemaNotFoundInContainerSchema = Self(
    "configurationSchemaNotFoundInContainerSchema")
  public static let duplicateConfiguration = Self("duplicateConfiguration")
  public static let loadIssueModelContainer = Self("loadIssueModelContainer")
  public static let modelValidationFailure = Self("modelValidationFailure")
  public static let missingModelContext = Self("missingModelContext")
  public static let backwardMigration = Self("backwardMigration")
  public static let unknownSchema = Self("unknownSchema")

  // Beyond SwiftData.
  /// An object of another context was inserted, deleted or linked.
  public static let foreignModel = Self("foreignModel")
  /// An object's class is not in the container's schema.
  public static let unknownModel = Self("unknownModel")
  /// `save()` was called by an observer of `willSave`.
  public static let saveInProgress = Self("saveInProgress")
  /// A store does not keep rows' values from before they were changed.
  public static let oldValuesMissing = Self("oldValuesMissing")
  /// The disk is full.
  public static let storageFull = Self("storageFull")
  /// The disk failed.
  public static let storageFailure = Self("storageFailure")
  /// Another process keeps the store locked.
  public static let storeLocked = Self("storeLocked")
  /// SQLite refused a statement.
  public static let storeFailure = Self("storeFailure")
  /// The store was opened read-only, or its file is read-only.
  public static let readOnlyStore = Self("readOnlyStore")
  /// The file is not a store, or is damaged.
  public static let unreadableStore = Self("unreadableStore")
  /// A column holds something other than a value of its property's type.
  public static let unreadableValue = Self("unreadableValue")
  /// A relationship names an inverse that doesn't lead back to it.
  public static let invalidInverse = Self("invalidInverse")
  /// Two models of a schema have the same name.
  public static let duplicateModel = Self("duplicateModel")
  /// `#Unique` or `#Index` names something other than a stored property.
  public static let unknownProperty = Self("unknownProperty")
  /// Two models or properties have names that lie in one table or column.
  public static let nameClash = Self("nameClash")
  /// A delete rule forbids the deletion.
  public static let deletionDenied = Self("deletionDenied")
  /// A backup would have replaced a file, or written large values through a symbolic link.
  public static let fileExists = Self("fileExists")
  /// Work on a store's file was asked for within a transaction.
  public static let transactionOpen = Self("transactionOpen")
}

// MARK: - Disks

/// The errors of the disk, whether SQLite meets them or a file for a large value does.
extension SwiftDataError {
  /// The error of a save whose large value can't be written to its file.
  init(_ error: FileError) {
    switch error.code {
    case .noSpace: self = .ofFullDisk(error)
    case .readOnly, .denied: self = .ofReadOnlyFile(error)
    default:
      self.init(
        .storageFailure,
        "The file of a large value could not be written. Nothing was saved and the changes are still pending; "
          + "see the cause, and save again.", cause: error)
    }
  }

  static func ofFullDisk(_ cause: (any Error)? = nil) -> SwiftDataError {
    .init(
      .storageFull,
      "The disk is full, and nothing was written. Free some space, and try again.",
      ofSave:
        "The disk is full. Nothing was saved and the changes are still pending; free some space "
        + "and save again.", cause: cause)
  }

  static func ofReadOnlyFile(_ cause: (any Error)? = nil) -> SwiftDataError {
    .init(
      .readOnlyStore,
      "The store is read-only. Check the file's permissions, or open it with allowsSave: false.",
      cause: cause)
  }
}
