extension StorageEngine.Location {
  /// The database that a URL names: `postgresql://…`, `postgres://…` or `sqlite:PATH`. Nil for any other.
  public init?(url: String) {
    if url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") {
      self = .postgreSQL(url)
    } else if url.hasPrefix("sqlite:"), url.count > 7 {
      self = .sqlite(String(url.dropFirst(7)))
    } else {
      return nil
    }
  }
}
