/// The result of a fetch, read in batches as elements are used.
///
/// Holds the identifiers of all elements and the objects of one batch, or all objects if they had to be loaded anyway.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  private let element: (Int) -> Element

  public let endIndex: Int
  public var startIndex: Int { 0 }
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
    return (models[identifier] ?? graph.model(for: identifier)) as? Element
      ?? Element(_row: .empty)
  }

  private func load(around position: Int) {
    let start = position / batchSize * batchSize
    batch = start..<min(start + batchSize, identifiers.count)
    models = [:]
    do {
      for model in try graph.models(identifiers[batch]) {
        models[model.persistentModelID] = model
      }
    } catch {
      Report.problem(
        .objectNotLoaded, subject: "a batch of \(Element.self)",
        message: "The batch was not loaded; its objects are read one by one.", cause: error)
    }
  }
}
