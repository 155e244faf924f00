extension ModelContainer {
  /// What opening this container has changed in its stores, one for each store that was made for other models.
  ///
  /// The stages of a migration plan open the store themselves, so after these it is empty.
  public var migrations: [StoreMigration] { stores.compactMap(\.migration) }
}
