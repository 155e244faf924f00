/// What a store is to the migration of a plan's stages.
enum MigrationRole: Hashable {
  /// A store as any.
  case none
  /// A copy to work on, which needs no backup.
  case ofCopy
  /// A copy that a custom stage changes, which sees to values that are missing.
  case ofCustomStage
}
