import SwiftSyntax

/// Names of properties that mean something to the engine or to SwiftData.
enum ReservedNames {
  /// Every model gets members of these names, which the engine relies on.
  static let reserved: Set = ["persistentModelID", "persistentBackingData", "schemaMetadata"]

  /// What names of generated members start with.
  static let prefix = "_$"

  /// The module that generated code names; a member of that name would hide it.
  static let module = "SteadRecords"

  /// A stored property of the name works, but the model's own is then out of reach.
  static let hidden: Set = ["isDeleted", "hasChanges", "modelContext", "hashValue"]

  /// Core Data's objects have members of these names; a model with such a property opens no store.
  static let refusedByApple: Set = ["description", "hash"]
}
