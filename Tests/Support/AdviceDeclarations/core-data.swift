#if canImport(CoreData)
  import CoreData

  let container = NSPersistentContainer(name: "Notes")
#endif
