#if !canImport(Darwin)
  @_exported public import OSLog
#endif
