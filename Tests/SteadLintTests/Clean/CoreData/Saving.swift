import CoreData

extension NSManagedObjectContext {
  func saveIfChanged() throws {
    guard hasChanges else { return }
    try save()
  }
}
