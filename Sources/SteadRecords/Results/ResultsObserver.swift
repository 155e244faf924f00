public import Foundation
public import Observation

/// The results of a fetch, kept up to date when the context changes and when another context or process commits.
///
/// ```swift
/// let observer = ResultsObserver(
///   fetchDescriptor: FetchDescriptor<Task>(sortBy: [SortDescriptor(\.due)]), modelContext: context)
/// for await tasks in observer.updates { show(tasks) }
/// ```
///
/// An observable class that needs no user interface: read ``results`` within `withObservationTracking`, or iterate
/// over ``updates``. A refresh costs one fetch; commits that do not affect the fetched models cost nothing.
///
/// All results are loaded, and the observer holds them: limit the fetch if there are many. It keeps its
/// context; nothing keeps it but the program and the sequences of ``updates``.
///
/// Like its context, an observer belongs to one actor or thread. Commits of other contexts are applied between turns
/// of the main actor or of a model actor, and if `isolation` is an actor, between that actor's turns; in any other
/// context at its next fetch, save or `processPendingChanges()`.
@Observable
public final class ResultsObserver<Element: PersistentModel, SectionName: Hashable> {
  /// The objects, as of the last refresh. All are loaded; a read takes part in Observation.
  public private(set) var results: FetchResultsCollection<Element>
  /// The sections, in the order of their first objects; empty without `sectionBy`.
  public private(set) var sections = SectionedResults<Element, SectionName>([], by: nil)
  /// Why the last refresh failed; the results are then those of the previous refresh.
  public private(set) var fetchError: (any Error)?

  /// What is fetched; setting it, or a part of it, fetches at once.
  public var fetchDescriptor: FetchDescriptor<Element> {
    didSet {
      // Another predicate may read other tables, and their commits count from now on.
      tables = FetchRunner(modelContext.linkedGraph()).tables(of: fetchDescriptor)
      refresh()
    }
  }

  /// The property that names an object's section; setting it makes the sections again, without a fetch.
  ///
  /// Sections are in the order of their first objects, so sort by this property first.
  public var sectionBy: KeyPath<Element, SectionName>? {
    didSet { sections = SectionedResults(models, by: sectionBy) }
  }

  /// The predicate of the fetch; setting it fetches. To set several parts with one fetch, set ``fetchDescriptor``.
  public var filterBy: Predicate<Element>? {
    get { fetchDescriptor.predicate }
    set { fetchDescriptor.predicate = newValue }
  }

  /// The order of the fetch; setting it fetches.
  public var sortBy: [SortDescriptor<Element>] {
    get { fetchDescriptor.sortBy }
    set { fetchDescriptor.sortBy = newValue }
  }

  /// The context that the objects belong to.
  public let modelContext: ModelContext

  @ObservationIgnored private var models: [Element] = []
  @ObservationIgnored private let streams = SignalStreams()
  /// The tables whose commits can change the results; nil if any can.
  @ObservationIgnored private var tables: Set<String>?

  /// Follows the context before it fetches: a commit in between then causes another refresh, instead of being missed.
  init(
    _ descriptor: FetchDescriptor<Element>, _ context: ModelContext, _ isolation: (any Actor)?,
    by sectionBy: KeyPath<Element, SectionName>?
  ) {
    fetchDescriptor = descriptor
    modelContext = context
    self.sectionBy = sectionBy
    results = FetchResultsCollection(loaded: [])
    tables = FetchRunner(context.linkedGraph()).tables(of: descriptor)
    // Weak, and false once the observer is gone: the context then drops the closure.
    context.linkedGraph().follow(isolation) { [weak self] changed in
      guard let self else { return false }
      // nil if any table may count: a part of the predicate is evaluated in memory.
      if let tables = self.tables, tables.isDisjoint(with: changed) { return true }
      refresh()
      return true
    }
    refresh()
  }

  /// Fetches again, now. A failure is in ``fetchError``, and the results stay.
  ///
  /// Called by the context for each change that can affect the results, so a program seldom needs it.
  public func refresh() {
    do {
      models = try modelContext.fetch(fetchDescriptor)
      results = FetchResultsCollection(loaded: models)
      sections = SectionedResults(models, by: sectionBy)
      fetchError = nil
      // Last: who is woken by it reads the results.
      streams.yield()
    } catch {
      fetchError = error
    }
  }

  /// The object at an index path of a section and an item. Without sections the section is 0.
  ///
  /// Nil for an index path out of range, or of another length than 2.
  public func element(at indexPath: IndexPath) -> Element? {
    guard indexPath.count == 2 else { return nil }
    let (section, item) = (indexPath[0], indexPath[1])
    if sectionBy == nil {
      return section == 0 && models.indices.contains(item) ? models[item] : nil
    }
    guard sections.indices.contains(section), sections[section].indices.contains(item) else {
      return nil
    }
    return sections[section][item]
  }

  /// The index path of an object: its section, and its index in the section. Nil if it is not among the results.
  /// Costs a search through them.
  public func indexPath(for element: Element) -> IndexPath? {
    if sectionBy == nil {
      return models.firstIndex { $0 === element }.map { IndexPath(indexes: [0, $0]) }
    }
    for (index, section) in sections.enumerated() {
      if let item = section.firstIndex(where: { $0 === element }) {
        return IndexPath(indexes: [index, item])
      }
    }
    return nil
  }

  /// The results now and after each refresh; only the newest if they arrive faster than they are consumed.
  ///
  /// The sequence keeps the observer alive. It has no end of its own: it ends when its task is cancelled. Each call
  /// gives a sequence of its own.
  ///
  /// ```swift
  /// let task = Task { @MainActor in
  ///   for await trips in observer.updates { list.show(trips) }
  /// }
  /// task.cancel()  // ends the sequence
  /// ```
  public var updates: AsyncFetchResults<Element, SectionName> { AsyncFetchResults(observer: self) }

  /// A signal now and after each refresh.
  func signals() -> AsyncStream<Void> { streams.make() }
}

// MARK: - Observing without sections

extension ResultsObserver where SectionName == Never {
  /// Observes a fetch in a context, and fetches at once.
  ///
  /// - Parameters:
  ///   - fetchDescriptor: What to fetch.
  ///   - modelContext: The context, which is used here.
  ///   - isolation: The actor between whose turns a context without turns of its own applies other contexts' commits;
  ///     by default the one that calls this. Nil leaves that to the context's calls.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element>, modelContext: ModelContext,
    isolation: (any Actor)? = #isolation
  ) {
    self.init(fetchDescriptor, modelContext, isolation, by: nil)
  }

  /// Observes a fetch in a new context, ``modelContext``, which belongs to the caller's actor or thread.
  ///
  /// The observer holds that context, and so keeps the container's stores open.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element>, modelContainer: ModelContainer,
    isolation: (any Actor)? = #isolation
  ) {
    self.init(fetchDescriptor, ModelContext(modelContainer), isolation, by: nil)
  }

  /// Observes the objects that match, in an order, and fetches at once.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>] = [],
    modelContext: ModelContext, isolation: (any Actor)? = #isolation
  ) {
    self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy), modelContext, isolation, by: nil)
  }

  /// Observes the objects that match, in an order and in a new context.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>] = [],
    modelContainer: ModelContainer, isolation: (any Actor)? = #isolation
  ) {
    self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy), ModelContext(modelContainer),
      isolation, by: nil)
  }
}

// MARK: - Observing in sections

extension ResultsObserver {
  /// Observes a fetch in a context, in sections. SwiftData has this for String and String?.
  ///
  /// Sort by the section's property first: sections are in the order of their first objects.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element>, sectionBy: KeyPath<Element, SectionName>,
    modelContext: ModelContext, isolation: (any Actor)? = #isolation
  ) {
    self.init(fetchDescriptor, modelContext, isolation, by: sectionBy)
  }

  /// Observes a fetch in a new context, in sections.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element>, sectionBy: KeyPath<Element, SectionName>,
    modelContainer: ModelContainer, isolation: (any Actor)? = #isolation
  ) {
    self.init(fetchDescriptor, ModelContext(modelContainer), isolation, by: sectionBy)
  }

  /// Observes the objects that match, in an order and in sections.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>] = [],
    sectionBy: KeyPath<Element, SectionName>, modelContext: ModelContext,
    isolation: (any Actor)? = #isolation
  ) {
    self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy), modelContext, isolation, by: sectionBy)
  }

  /// Observes the objects that match, in an order, in sections and in a new context.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>] = [],
    sectionBy: KeyPath<Element, SectionName>, modelContainer: ModelContainer,
    isolation: (any Actor)? = #isolation
  ) {
    self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy), ModelContext(modelContainer),
      isolation, by: sectionBy)
  }
}

// MARK: - Signals

/// The streams of one observer. They end with it.
private final class SignalStreams {
  private var continuations: [AsyncStream<Void>.Continuation] = []

  deinit { continuations.forEach { $0.finish() } }

  /// A stream with a signal now and one for each ``yield()``; of several that are not consumed yet, one is kept.
  func make() -> AsyncStream<Void> {
    // One signal is kept: it stands for the newest results, so that a slow consumer costs no memory.
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    continuations.append(continuation)
    continuation.yield()
    return stream
  }

  /// Sends a signal to all streams, and drops those whose consumers are gone.
  func yield() {
    continuations.removeAll { if case .terminated = $0.yield() { true } else { false } }
  }
}
