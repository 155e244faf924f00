#if !canImport(SwiftUI)
  public import Foundation

  /// A property that holds the results of a fetch and keeps them up to date, in any class.
  ///
  /// Has the initialisers of SwiftUI's `@Query`, without animation. The results come from ``Query/modelContext``; by
  /// default this is the main context of the container that was opened last when the results are read first. Containers
  /// that are opened later change nothing.
  ///
  /// ```swift
  /// @MainActor final class Tasks {
  ///   @Query(sort: \Task.title) var all: [Task]
  ///
  ///   init(_ container: ModelContainer) { $all.modelContext = container.mainContext }
  /// }
  /// ```
  ///
  /// For the main actor alone. The first read fetches; from then on each change of the context, and each commit of
  /// others, that concerns the model fetches again, between turns of the main actor. A read takes part in Observation,
  /// so `withObservationTracking` reports changes. With a context that has no turns, the results follow at its next
  /// fetch, save or ``ModelContext/processPendingChanges()``.
  @MainActor @propertyWrapper
  public final class Query<Element: PersistentModel> {
    private let descriptor: FetchDescriptor<Element>

    init(descriptor: FetchDescriptor<Element>) { self.descriptor = descriptor }

    private var observer: ResultsObserver<Element, Never>?
    /// The one that was set, or that the observer has.
    private var context: ModelContext?

    /// The context of the results. By default, before the first read, the main context of the container opened last, or
    /// nil if there is none; from then on that same context.
    ///
    /// Setting it makes the next read fetch again from that context; nil, from the default.
    public var modelContext: ModelContext? {
      get { context ?? ModelContainer.current?.mainContext }
      set {
        context = newValue
        // The next read makes another one. The context drops the closure of the old one at its next change.
        observer = nil
      }
    }

    /// Why the last fetch failed; nil if it succeeded, or if there is no context to fetch from. The results are then those
    /// of the fetch before.
    public var fetchError: (any Error)? { modelContext == nil ? nil : live?.fetchError }

    /// The results, as of the last refresh. Empty without a context, which is reported as a problem (`missingContext`).
    ///
    /// Copies references to all results into an array; the objects are loaded already.
    public var wrappedValue: [Element] { live.map { Array($0.results) } ?? [] }

    /// The wrapper itself: `$all.modelContext`, `$all.fetchError`. It is of the main actor.
    public var projectedValue: Query<Element> { self }

    /// The observer, made at the first read: a property wrapper is initialized before a container needs to exist.
    private var live: ResultsObserver<Element, Never>? {
      if let observer { return observer }
      guard let modelContext else {
        Report.problem(
          .missingContext, subject: "@Query of \(Element.self)",
          message: "It has no context. Open a ModelContainer first, or set $query.modelContext.")
        return nil
      }
      let new = ResultsObserver(fetchDescriptor: descriptor, modelContext: modelContext)
      // The context, too: a container that is opened later must not change where the results come from.
      (context, observer) = (modelContext, new)
      return new
    }
  }

  extension Query {
    /// All objects, in no particular order.
    public convenience init() { self.init(FetchDescriptor<Element>()) }

    /// The objects that a descriptor describes. Nothing is fetched until the first read.
    public convenience init(_ descriptor: FetchDescriptor<Element>) {
      self.init(descriptor: descriptor)
    }

    /// The objects that match, ordered by descriptors. Without descriptors the order is unspecified.
    public convenience init(
      filter: Predicate<Element>? = nil, sort descriptors: [SortDescriptor<Element>] = []
    ) {
      self.init(descriptor: FetchDescriptor(predicate: filter, sortBy: descriptors))
    }

    /// The objects that match, ordered by a property.
    public convenience init<Value: Comparable>(
      filter: Predicate<Element>? = nil, sort keyPath: any KeyPath<Element, Value> & Sendable,
      order: SortOrder = .forward
    ) {
      self.init(
        descriptor: FetchDescriptor(
          predicate: filter, sortBy: [SortDescriptor(keyPath, order: order)]))
    }

    /// The objects that match, ordered by an optional property.
    public convenience init<Value: Comparable>(
      filter: Predicate<Element>? = nil, sort keyPath: any KeyPath<Element, Value?> & Sendable,
      order: SortOrder = .forward
    ) {
      self.init(
        descriptor: FetchDescriptor(
          predicate: filter, sortBy: [SortDescriptor(keyPath, order: order)]))
    }
  }
#endif
