import CoreData

func removeAll(_ name: String, from container: NSPersistentContainer) async throws {
  try await container.performBackgroundTask { context in
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
    try context.execute(NSBatchDeleteRequest(fetchRequest: request))
    try context.save()
  }
}
