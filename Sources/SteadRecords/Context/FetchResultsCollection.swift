/// The result of a fetch, read in batches as elements are used.
///
/// Holds the identifiers of all elements and the objects of one batch, or all objects if they had to be loaded anyway.
///
/// ```swift
/// var descriptor = FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.date)])
/// descriptor.includePendingChanges = false
/// let photos = try context.fetch(descriptor, batchSize: 100)
/// print(photos.count, photos[5_000].title)  // reads the photos 5,000 to 5,099
/// ```
///
/// The number and the order of the elements are those of the fetch and never change. Each batch is read when an element
/// of it is first used, in the state that the store has then. Jumping between batches reads each again; a loop over the
/// indices reads each once. Like the context, a collection of objects belongs to one thread or actor.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  private let element: (Int) -> Element

  /// The number of elements.
  public let endIndex: Int
  /// Zero, even for an empty result.
  public var startIndex: Int { 0 }
  /// The element at an index, which may read its batch from the store.
  ///
  /// A row that was deleted since the fetch reads as an object with empty values. A batch that cannot be read is
  /// reported to `Stead.onProblem`. An index that is out of range ends the program.
  public subscript(position: Int) -> Element {
    precondition(indices.contains(position), "Index out of range")
    return element(position)
  }
}

extension FetchResultsCollection where Element: PersistentModel {
  /// Objects that are all loaded.
  init(loaded models: [Element]) {
    endIndex = models.count
    element = { models[$0] }
  }

  /// Objects that are loaded in batches.
  init(_ identifiers: [PersistentIdentifier], batchSize: Int, graph: ObjectGraph) {
    let loader = BatchLoader<Element>(identifiers, batchSize, graph)
    endIndex = identifiers.count
    element = { loader.model(at: $0) }
  }
}

extension FetchResultsCollection where Element == PersistentIdentifier {
  init(_ identifiers: [PersistentIdentifier]) {
    endIndex = identifiers.count
    element = { identifiers[$0] }
  }
}

/// Keeps the objects of the batch that was last used.
///
/// One batch, so that a loop over a large result holds no more objects than that. An object of an earlier batch that
/// the program holds is still the one that a later read of its row gives.
/// Batches have fixed limits, so that reading to and fro around a position does not load overlapping ones.
private final class BatchLoader<Element: PersistentModel> {
  private let identifiers: [PersistentIdentifier]
  private let batchSize: Int
  private let graph: ObjectGraph
  private var batch: Range<Int> = 0..<0
  private var models: [PersistentIdentifier: any PersistentModel] = [:]

  init(_ identifiers: [PersistentIdentifier], _ batchSize: Int, _ graph: ObjectGraph) {
    self.identifiers = identifiers
    self.batchSize = max(batchSize, 1)
    self.graph = graph
  }

  func model(at position: Int) -> Element {
    if !batch.contains(position) { load(around: position) }
    let identifier = identifiers[position]
    // A row deleted since the fetch reads as an empty object, as with `model(for:)`.
    return (models[identifier] ?? FetchRunner(graph).model(for: identifier)) as? Element
      ?? Element(_row: .empty)
  }

  /// Loads the batch that has a position, and drops the one before. If it fails, each object of the batch is looked
  /// up by itself.
  private func load(around position: Int) {
    // Aligned to multiples of the size, whichever element is used first.
    let start = position / batchSize * batchSize
    batch = start..<min(start + batchSize, identifiers.count)
    // Before the next batch is read, so that memory never holds two.
    models = [:]
    do {
      for model in try FetchRunner(graph).models(identifiers[batch]) {
        // By identifier: rows that are gone are missing in the result, which shifts what follows them.
        models[model.persistentModelID] = model
      }
    } catch {
      Report.problem(
        .objectNotLoaded, subject: "a batch of \(Element.self)",
        message: "The batch was not loaded; its objects are read one by one.", cause: error)
    }
  }
}
