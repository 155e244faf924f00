import CoreData

final class Stack {
  let container = NSPersistentContainer(name: "Library")
  private(set) var loadError: (any Error)?

  func load() {
    container.loadPersistentStores { [weak self] _, error in self?.loadError = error }
  }
}
