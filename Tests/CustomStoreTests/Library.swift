import Foundation
import SwiftData

/// A store in memory that tests look into, with containers on it.
struct Library {
  let content = DictionaryStore.Content()

  func container() throws -> ModelContainer {
    try ModelContainer(
      for: Author.self, Book.self, Shelf.self, Note.self,
      configurations: DictionaryStore.Configuration(content))
  }

  func context() throws -> ModelContext { ModelContext(try container()) }

  /// Saves an author with books, and returns the author's identifier.
  @discardableResult
  func write(_ name: String, _ titles: String...) throws -> PersistentIdentifier {
    let context = try context()
    let author = Author(name)
    context.insert(author)
    for (place, title) in titles.enumerated() {
      author.books.append(Book(title, pages: (place + 1) * 10))
    }
    try context.save()
    _ = content.takeCalls()
    return author.persistentModelID
  }

  /// The snapshot of an object, by its entity and place.
  func snapshot(_ entity: String, _ place: Int = 0) -> DefaultSnapshot {
    content.snapshots.filter { $0.persistentIdentifier.entityName == entity }[place]
  }

  /// A snapshot with another value of one property, as a change of another program.
  func changed<V: Codable>(_ snapshot: DefaultSnapshot, _ name: String, _ value: V) throws
    -> DefaultSnapshot
  {
    var json =
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(snapshot))
      as? [String: Any] ?? [:]
    let array = try JSONSerialization.jsonObject(with: JSONEncoder().encode([value])) as? [Any]
    json[name] = array?.first
    return try JSONDecoder().decode(
      DefaultSnapshot.self, from: JSONSerialization.data(withJSONObject: json))
  }

  /// Exchanges a snapshot in the store behind all contexts.
  func put(_ snapshot: DefaultSnapshot) {
    content.state.withLock { state in
      let place = state.snapshots.firstIndex {
        $0.persistentIdentifier == snapshot.persistentIdentifier
      }
      if let place { state.snapshots[place] = snapshot } else { state.snapshots.append(snapshot) }
    }
  }
}

/// An error of a store's own.
struct StoreOutage: Error {}
