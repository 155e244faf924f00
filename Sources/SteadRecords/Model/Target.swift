/// The destination of a to-one relationship.
public enum _Target {
  case none
  /// A row that was not looked up yet.
  case row(Int64)
  case model(any PersistentModel)
}
