/// The result of a fetch, read in batches as elements are used.
///
/// Holds the identifiers of all elements and the objects of one batch.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  private let source: Source

  private final class Source {
    let identifiers: [PersistentIdentifier]
    let batchSize: Int
    let graph: ObjectGraph?
    let convert: (Source, Int) -> Element
    var batch: Range<Int> = 0..<0
    var models: [PersistentIdentifier: any PersistentModel] = [:]

    init(
      _ identifiers: [PersistentIdentifier], _ batchSize: Int, _ graph: ObjectGraph?,
      _ convert: @escaping (Source, Int) -> Element
    ) {
      self.identifiers = identifiers
      self.batchSize = Swift.max(batchSize, 1)
      self.graph = graph
      self.convert = convert
    }

    func model(at position: Int) -> any PersistentModel {
      if !batch.contains(position) { load(around: position) }
      let identifier = identifiers[position]
      // A row deleted since reads as an empty object, as `model(for:)` gives it.
      return models[identifier] ?? graph.map { $0.model(for: identifier) } ?? models.first!.value
    }

    private func load(around position: Int) {
      let start = position / batchSize * batchSize
      batch = start..<Swift.min(start + batchSize, identifiers.count)
      models = [:]
      do {
        for model in try graph?.models(identifiers[batch]) ?? [] {
          models[model.persistentModelID] = model
        }
      } catch {
        Report.problem("A batch of a fetch cannot be loaded: \(error)")
      }
    }
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { source.identifiers.count }
  public subscript(position: Int) -> Element { source.convert(source, position) }
}

extension FetchResultsCollection where Element: PersistentModel {
  init(models identifiers: [PersistentIdentifier], batchSize: Int, graph: ObjectGraph) {
    source = Source(identifiers, batchSize, graph) { source, position in
      source.model(at: position) as? Element ?? Element(_row: .empty)
    }
  }
}

extension FetchResultsCollection where Element == PersistentIdentifier {
  init(identifiers: [PersistentIdentifier]) {
    source = Source(identifiers, identifiers.count, nil) { $0.identifiers[$1] }
  }
}
