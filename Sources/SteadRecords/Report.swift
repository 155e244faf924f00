import SteadFiles
@_exported public import enum SteadFiles.Stead

/// Reports problems that must not stop the program to `Stead.onProblem`.
enum Report {
  /// Reports a problem with its own code.
  ///
  /// - Parameters:
  ///   - subject: What the problem concerns, such as `Author.books`.
  ///   - message: The problem and its remedy, without a stored value.
  static func problem(
    _ code: Stead.Problem.Code, subject: String = "", message: String,
    cause: (any Error)? = nil
  ) {
    Stead.report(
      Stead.Problem(
        code: code, product: .records, subject: subject, message: message, cause: cause))
  }

  /// Reports a problem without its own code.
  static func problem(_ text: String) { problem(.recordsFailed, message: text) }
}

// MARK: - Codes

extension Stead.Problem.Code {
  /// An object, or a relationship's destination, could not be read from its store. The property has no value, or no
  /// destinations, until it is read again.
  ///
  /// A property cannot throw. The cause is the error of the store; fetch the object again to get it thrown.
  public static let objectNotLoaded = Self("objectNotLoaded")
  /// A class is not in the container's schema, so its object was not inserted or found.
  ///
  /// Reported by `model(for:)`, and for a relationship to another version's class. Name the class when the container is
  /// made.
  public static let unknownModel = Self("unknownModel")
  /// An object was deleted by another context or program while this one had unsaved changes of its attributes. They are
  /// lost: the deletion prevails.
  ///
  /// The object has left its context and keeps its values. Insert a new object with them if they are still wanted.
  public static let changesLost = Self("changesLost")
  /// An autosave failed. The changes are still pending, and the next save writes them.
  ///
  /// The cause is the `SwiftDataError`. Later changes and turns try again; call `save()` to handle the error.
  public static let autosaveFailed = Self("autosaveFailed")
  /// Several properties could be the inverse of a relationship.
  ///
  /// Reported once in a process, when a container is opened: each of them is one-way. The message
  /// has the `@Relationship(inverse:)` to write.
  public static let inverseAmbiguous = Self("inverseAmbiguous")
  /// A column of a row does not hold a value of its property's type.
  ///
  /// Another program has written it. Repair the row, or have the type accept the value.
  public static let rowUnreadable = Self("rowUnreadable")
  /// A file of an external value could not be read, or could not be removed after its last use.
  ///
  /// A file that cannot be read is damaged or missing: restore the store's directory from a backup. Until then an optional
  /// property reads as nil, and another one as no bytes; saving other properties leaves the column as it is. One that was
  /// not removed takes up space until `ModelContainer.compact()`.
  public static let externalFileFailed = Self("externalFileFailed")
  /// Results were requested before any context existed to fetch them.
  ///
  /// A `@Query` was read before a container was opened, or after the newest one was released. Set
  /// `$query.modelContext`.
  public static let missingContext = Self("missingContext")
  /// An empty store was begun at the path of one that another container has open, and whose file is gone.
  ///
  /// The other container can no longer save. Close containers before their stores are removed, as in a test's teardown.
  public static let storeDisplaced = Self("storeDisplaced")
  /// Another problem of records, without its own code; see the problem's message.
  public static let recordsFailed = Self("recordsFailed")
}
