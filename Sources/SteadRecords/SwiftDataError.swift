public import Foundation
import SteadFiles

/// A failure of a container, a context or a store, and its remedy.
///
/// Compare ``code``, show ``message``, examine ``cause``. Or compare with the static values, as with SwiftData's:
/// `catch SwiftDataError.modelValidationFailure`. Two errors are equal if their codes are.
///
/// ```swift
/// do {
///   try context.save()
/// } catch SwiftDataError.storageFull {
///   showAlert("The disk is full. Nothing is lost: free some space, and save again.")
/// } catch let error as SwiftDataError {
///   logger.error("\(error.code): \(error.message)")
/// }
/// ```
///
/// After a `save()` that threw, all changes are still pending. Documentation/Troubleshooting.md lists the messages.
/// What no method can throw, such as an error of an autosave, is reported to `Stead.onProblem`.
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
  /// What happened, and the remedy, in English sentences; names entities and properties, never a stored value. Empty
  /// for the static values to compare with. Its wording may change between versions.
  public let message: String
  /// The message if a save throws the error, whose changes are then still pending; nil for the same message.
  private let messageOfSave: String?
  /// The underlying error, such as one of a file, of a migration's closure or of a custom store; nil if there is none.
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

  /// Compares the codes alone: messages and causes may differ.
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

  /// The code, the message, and the cause in parentheses unless the message has it: for logs.
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

  /// A fetch in batches was to include unsaved changes, which only the context has.
  ///
  /// Thrown by `fetch(_:batchSize:)` and `fetchIdentifiers(_:batchSize:)` of a context with unsaved changes. Save
  /// first, or set `FetchDescriptor.includePendingChanges` to false.
  public static let includePendingChangesWithBatchSize = Self(.includePendingChangesWithBatchSize)
  /// Never thrown: unsaved changes are sorted in memory. For code written for SwiftData.
  public static let sortingPendingChangesWithIdentifiers = Self(
    .sortingPendingChangesWithIdentifiers)
  /// Never thrown: what a key path leads to that has no column is read from objects in memory. For code written for
  /// SwiftData.
  public static let unsupportedKeyPath = Self(.unsupportedKeyPath)
  /// A model cannot be searched.
  ///
  /// Thrown by `search(_:for:matchesPrefix:limit:)` if the model has no `.spotlight` property: mark one with
  /// `@Attribute(.spotlight)`. Never thrown by a fetch, which evaluates in memory what has no SQL.
  public static let unsupportedPredicate = Self(.unsupportedPredicate)
  /// Never thrown: an order without SQL is made in memory. For code written for SwiftData.
  public static let unsupportedSortDescriptor = Self(.unsupportedSortDescriptor)
  /// The history after a token is no longer complete, or the old values at a token are gone.
  ///
  /// Thrown by `fetchHistory(_:)` and `deleteHistory(_:)` if a transaction after the token was deleted or trimmed, or
  /// if the token is newer than the store, which was restored from a backup. Read the objects again, and continue from
  /// the newest token. Thrown by `asOf(_:)` and `restore(to:author:)` if old values begin after the token: use a later
  /// one.
  public static let historyTokenExpired = Self(.historyTokenExpired)
  /// A history was asked for what it cannot have, or `enumerate` left unsaved changes.
  ///
  /// Thrown by `fetchHistory(_:)` and `deleteHistory(_:)` for a type of transactions that no store of the container
  /// has; by `asOf(_:)` and `restore(to:author:)` for a token of another store; and by `enumerate` if its block leaves
  /// unsaved changes: save in the block, or pass `allowEscapingMutations: true`.
  public static let invalidTransactionFetchRequest = Self(.invalidTransactionFetchRequest)
  /// The name of a configuration has a slash or a NUL, or that of its group cannot be a directory's name.
  ///
  /// Thrown when a container is opened, and by `ModelConfiguration.validate()`. Choose another name.
  public static let configurationFileNameContainsInvalidCharacters = Self(
    .configurationFileNameContainsInvalidCharacters)
  /// The name of a configuration has more than 240 bytes.
  ///
  /// Thrown when a container is opened, and by `ModelConfiguration.validate()`. Shorten it.
  public static let configurationFileNameTooLong = Self(.configurationFileNameTooLong)
  /// Schemas of configurations and the container's schema do not fit together.
  ///
  /// Thrown when a container is opened: a configuration has a model that the container's schema lacks, or no
  /// configuration has one of the container's models. Also thrown by the initializers of ``DefaultStore`` and
  /// ``JSONStore`` if their configuration has no schema.
  public static let configurationSchemaNotFoundInContainerSchema = Self(
    .configurationSchemaNotFoundInContainerSchema)
  /// Two configurations of a container have one name or one file.
  ///
  /// Thrown when a container is opened. Give each its own; configurations in memory need different names, too.
  public static let duplicateConfiguration = Self(.duplicateConfiguration)
  /// A container could not be opened.
  ///
  /// As a pattern it matches every error of opening a container; compare ``code`` to tell them apart. As a code it
  /// means that a store cannot follow its models without a migration plan, that a stage of a plan threw or would have
  /// lost data, that a plan contradicts itself, or that a model has more than 1,024 properties. The message lists what
  /// to do; ``cause`` is the error of a stage or of a custom store. The store is unchanged.
  public static let loadIssueModelContainer = Self(.loadIssueModelContainer)
  /// An object cannot be saved with its values.
  ///
  /// Thrown by a save: a required relationship has no object, a to-many relationship has too few or too many, a value
  /// cannot be encoded, or a changed object has the unique values of another one. (A *new* object with the values of a
  /// row updates the row.) Nothing was saved; the message names the property. Correct the object, or call `rollback()`.
  public static let modelValidationFailure = Self(.modelValidationFailure)
  /// Never thrown: an object without a context is an ordinary object. For code written for SwiftData.
  public static let missingModelContext = Self(.missingModelContext)
  /// The store was written by a later version of the app's models.
  ///
  /// Thrown when a container is opened whose schema, or whose migration plan, ends before the store's version. Ask for
  /// an update of the app. The store is unchanged.
  public static let backwardMigration = Self(.backwardMigration)
  /// A store, a schema or a plan does not have the models that are asked for.
  ///
  /// - By a fetch: the class is not in the container's schema. If the schema has another version's class of that name,
  ///   the message names it.
  /// - By a save or a fetch: another process has migrated the store since. Open a new container.
  /// - When a container is opened: the store is of a newer version of this library, older than a plan's first version,
  ///   or has the number of a version whose models were edited after they were shipped. The store is unchanged.
  /// - By ``SchemaLock``: a shipped version was edited, or the file is missing, cannot be read or is not a lock.
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
  ///
  /// Nothing was written, and the changes of a save are still pending: make room, and save again. `compact()` throws it
  /// before it begins if the copies that it needs would not fit.
  public static let storageFull = Self(.storageFull)
  /// The disk failed, or a file beside the store cannot be made.
  ///
  /// The ``cause`` is the error of the file system, if there is one. Nothing was written: check the disk, or the rights
  /// of the directory that the message names, and try again. Also thrown for a file system without write-ahead logs,
  /// such as a network's, and by `backUp(to:)` for a directory that is missing or may not be written.
  public static let storageFailure = Self(.storageFailure)
  /// Another process has kept the store locked for 60 seconds.
  ///
  /// Nothing was saved, and the changes are still pending: find the process (`fuser STORE`), and try again. Also thrown
  /// if other programs write each time that a migration is about to finish, or change a custom store during each of 100
  /// attempts to save.
  public static let storeLocked = Self(.storeLocked)
  /// SQLite refused a statement, or a custom store answered with identifiers that are not its own.
  ///
  /// The message has SQLite's error and the statement, which contains no value. Try again; if it fails again, call
  /// `ModelContainer.check()`. Also thrown for a predicate whose SQL is beyond SQLite's limits, and for a sum that does
  /// not fit its property's type.
  public static let storeFailure = Self(.storeFailure)
  /// The store was opened read-only, or its file is read-only.
  ///
  /// Thrown by a save and by everything else that writes. The message says which: `allowsSave` is false, the file
  /// system is mounted read-only, or the process may not write to the file or its directory.
  public static let readOnlyStore = Self(.readOnlyStore)
  /// The file is not a store, is damaged, or is separated from its log.
  ///
  /// It was left as it is, and nothing was saved. The message says what to do: put the log back next to the file,
  /// choose another file, correct its owner, or open a backup. Also thrown by a save after the file was removed or
  /// moved away, and by `fetchHistory(_:)` for a damaged row of the history.
  public static let unreadableStore = Self(.unreadableStore)
  /// A column holds something other than a value of its property's type, or a snapshot does.
  ///
  /// Thrown by a fetch that would return the object, and by a save if a delete rule concerns it. Another program, or a
  /// change of the type, has made the row so; it was left as it is. Leave it out by a predicate, repair the column, or
  /// have the type accept the value. Also thrown by `restore(to:author:)` if a large value of that time is gone.
  public static let unreadableValue = Self(.unreadableValue)
  /// A relationship names an inverse that doesn't lead back to it.
  ///
  /// Thrown when a container is opened. Name a relationship whose type is the owner's class, and name it on one side
  /// only.
  public static let invalidInverse = Self(.invalidInverse)
  /// Two models of a schema have the same name.
  ///
  /// Thrown when a container is opened. Put the older class into a `VersionedSchema` of its own; a version that reuses
  /// a class of another version must reuse its superclass, too.
  public static let duplicateModel = Self(.duplicateModel)
  /// `#Unique` or `#Index` names something other than a stored property of its model.
  ///
  /// Thrown when a container is opened. Name stored properties only, without a path through another object.
  public static let unknownProperty = Self(.unknownProperty)
  /// Two models or properties have names that map to the same table or column.
  ///
  /// Thrown when a container is opened: names differ only in case, are those of columns that every table has (`_id`),
  /// of hidden columns, or of tables of pairs and searches, or are of different types in two classes of a hierarchy.
  /// Rename one, with the old name as `originalName`.
  public static let nameClash = Self(.nameClash)
  /// A `deny` rule forbids a deletion.
  ///
  /// Thrown by a save, and by `delete(model:where:)`, while the deleted object's relationship has objects that stay.
  /// Nothing was saved: delete or move them first, or call `rollback()`.
  public static let deletionDenied = Self(.deletionDenied)
  /// A backup would have replaced a file, or written large values through a symbolic link.
  ///
  /// Thrown by `ModelContainer.backUp(to:)`, which has written nothing. Name a file that does not exist.
  public static let fileExists = Self(.fileExists)
  /// Work on a store's file was requested within a transaction.
  ///
  /// Thrown by `compact()`, `erase()` and `restore(to:author:)` in the block of `transaction(block:)` on the same
  /// thread. Call them after it.
  public static let transactionOpen = Self(.transactionOpen)
  /// An object of another context was inserted, deleted or linked.
  ///
  /// Thrown by the next save, once for an insertion or a deletion, which had no effect, and each time as long as a
  /// relationship leads to such an object. Use this context's object instead: `model(for: other.persistentModelID)`.
  /// ``DefaultStore`` throws it for a snapshot whose object the store does not have.
  public static let foreignModel = Self(.foreignModel)
  /// An object's class is not in the container's schema.
  ///
  /// Thrown by the next save, as ``foreignModel`` is. Name the class when the container is made. If the schema has
  /// another class of that name, of another version, use that one. Also thrown when a snapshot is decoded whose model
  /// no schema has.
  public static let unknownModel = Self(.unknownModel)
  /// A save was called while the context saves.
  ///
  /// Thrown by a `save()` in an observer of `willSave`: observe `didSave`, or only change objects. Also thrown by a
  /// save or a transaction in another transaction's block while another thread saves the same context, which would be a
  /// deadlock.
  public static let saveInProgress = Self(.saveInProgress)
  /// A store does not keep rows' values from before they were changed.
  ///
  /// Thrown by `asOf(_:)` and `restore(to:author:)`. Open the store with `history` set to `.withOldValues`; its old
  /// values begin then. Custom stores keep none, and a store in memory cannot be restored.
  public static let oldValuesMissing = Self(.oldValuesMissing)
}

extension SwiftDataError.Code {
  // As SwiftData spells them. The errors of the same names say when each is thrown.
  /// A fetch in batches was to include unsaved changes.
  public static let includePendingChangesWithBatchSize = Self("includePendingChangesWithBatchSize")
  /// Never thrown: unsaved changes are sorted in memory.
  public static let sortingPendingChangesWithIdentifiers = Self(
    "sortingPendingChangesWithIdentifiers")
  /// Never thrown: what has no column is read from objects in memory.
  public static let unsupportedKeyPath = Self("unsupportedKeyPath")
  /// A model without `.spotlight` properties was searched.
  public static let unsupportedPredicate = Self("unsupportedPredicate")
  /// Never thrown: an order without SQL is made in memory.
  public static let unsupportedSortDescriptor = Self("unsupportedSortDescriptor")
  /// The history after a token is no longer complete.
  public static let historyTokenExpired = Self("historyTokenExpired")
  /// A history was asked for what it cannot have, or `enumerate` left unsaved changes.
  public static let invalidTransactionFetchRequest = Self("invalidTransactionFetchRequest")
  /// The name of a configuration or of its group cannot be a file's name.
  public static let configurationFileNameContainsInvalidCharacters = Self(
    "configurationFileNameContainsInvalidCharacters")
  /// The name of a configuration has more than 240 bytes.
  public static let configurationFileNameTooLong = Self("configurationFileNameTooLong")
  /// Schemas of configurations and the container's schema do not fit together.
  public static let configurationSchemaNotFoundInContainerSchema = Self(
    "configurationSchemaNotFoundInContainerSchema")
  /// Two configurations of a container have one name or one file.
  public static let duplicateConfiguration = Self("duplicateConfiguration")
  /// A store cannot follow its models, or a stage of a migration plan threw.
  public static let loadIssueModelContainer = Self("loadIssueModelContainer")
  /// An object cannot be saved with its values.
  public static let modelValidationFailure = Self("modelValidationFailure")
  /// Never thrown: an object without a context is an ordinary object.
  public static let missingModelContext = Self("missingModelContext")
  /// The store was written by a later version of the app's models.
  public static let backwardMigration = Self("backwardMigration")
  /// A store, a schema or a plan does not have the models that are asked for.
  public static let unknownSchema = Self("unknownSchema")

  // Beyond SwiftData.
  /// An object of another context was inserted, deleted or linked.
  public static let foreignModel = Self("foreignModel")
  /// An object's class is not in the container's schema.
  public static let unknownModel = Self("unknownModel")
  /// A save was called while the context saves.
  public static let saveInProgress = Self("saveInProgress")
  /// A store does not keep rows' values from before they were changed.
  public static let oldValuesMissing = Self("oldValuesMissing")
  /// The disk is full.
  public static let storageFull = Self("storageFull")
  /// The disk failed.
  public static let storageFailure = Self("storageFailure")
  /// Another process has kept the store locked for 60 seconds.
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
  /// Two models or properties have names that map to the same table or column.
  public static let nameClash = Self("nameClash")
  /// A delete rule forbids the deletion.
  public static let deletionDenied = Self("deletionDenied")
  /// A backup would have replaced a file, or written large values through a symbolic link.
  public static let fileExists = Self("fileExists")
  /// Work on a store's file was requested within a transaction.
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
