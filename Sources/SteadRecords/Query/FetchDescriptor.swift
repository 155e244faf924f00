public import Foundation

/// What to fetch: which objects, in which order, and how many.
///
/// ```swift
/// var descriptor = FetchDescriptor<Task>(
///   predicate: #Predicate { !$0.isDone }, sortBy: [SortDescriptor(\.due)])
/// descriptor.fetchLimit = 20
/// let tasks = try context.fetch(descriptor)
/// ```
///
/// The predicate and the order become SQL. A part of them that has no SQL, such as a computed property, is evaluated
/// in memory for the rows that the rest leaves; limit and offset are then applied in memory, too.
/// `ModelContext.sql(for:)` shows the result. Documentation/Predicates.md lists what has SQL.
///
/// A value, and Sendable: a predicate keeps captured objects by their identifiers.
public struct FetchDescriptor<T: PersistentModel> {
  /// The objects to fetch; nil for all.
  ///
  /// Captured values are bound as parameters, so two fetches that differ in these alone share one prepared statement.
  /// An `#Index` of the compared properties saves a scan of the table; `ModelContext.sql(for:)` shows the statement.
  public var predicate: Predicate<T>?
  /// The order; unspecified if empty.
  ///
  /// The first descriptor decides, the next one where it finds two equal. In ascending order nil comes first. Strings
  /// are ordered as Swift compares them, unless the descriptor has another comparator. An `#Index` of a number, a date
  /// or a Boolean spares SQLite the sort; strings and decimals are ordered by a collation that no index has, and so are
  /// sorted each time. A comparator or a type without a matching order in SQL is sorted in memory, after all matches
  /// are read.
  public var sortBy: [SortDescriptor<T>]
  /// The maximum number of objects; nil for no limit. Counts use it, too.
  ///
  /// ```swift
  /// descriptor.fetchLimit = 1
  /// let newest = try context.fetch(descriptor).first
  /// ```
  ///
  /// With an order, SQLite stops at the limit only if an index has that order. Otherwise it reads and
  /// sorts all matches first.
  public var fetchLimit: Int?
  /// The number of objects to skip. SQLite still steps over them, so a late page costs as much as all before it.
  ///
  /// For a long list, sort by a property that has no value twice, remember the last one instead, and
  /// let the predicate ask for what comes after it:
  ///
  /// ```swift
  /// descriptor.predicate = #Predicate { $0.number > last }
  /// descriptor.fetchLimit = 50
  /// ```
  public var fetchOffset: Int?
  /// Whether unsaved changes of the context are included; true by default. Pending objects of the fetched class are
  /// matched in memory. If the predicate or the order reads another class with unsaved changes, both are evaluated on
  /// objects, which reads every row.
  ///
  /// If it is false, the store decides which objects match; their unsaved values are still those of the context's
  /// objects.
  public var includePendingChanges = true
  /// The properties to read immediately; each of the others is read when it is first used. Empty for all. Has no
  /// effect on classes with subclasses.
  ///
  /// The first use of a property that was left out reads the rest of that object's row, in the state that the store has
  /// then: one statement for each object. So use it for wide rows of which a list shows little, and name all that the
  /// list shows.
  ///
  /// ```swift
  /// descriptor.propertiesToFetch = [\.title, \.date]    // the text is read when it is used
  /// ```
  public var propertiesToFetch: [PartialKeyPath<T>] = []
  /// Relationships whose objects are loaded together with the results, in one query for each relationship instead of
  /// one for each object.
  ///
  /// Without it, the first use of a relationship loads it for all objects of the fetch, likewise with one query. So it
  /// is for reading now what is needed later, such as before the store changes. A fetch with a single result loads
  /// nothing in advance.
  ///
  /// ```swift
  /// descriptor.relationshipKeyPathsForPrefetching = [\.stops]
  /// ```
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

  /// Describes a fetch of all objects, or of those that match.
  ///
  /// Nothing is translated or checked before a fetch.
  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}

// Sendable: predicates and sort descriptors are values that their makers declare Sendable, and key
// paths of models hold no captured values.
extension FetchDescriptor: @unchecked Sendable {}
