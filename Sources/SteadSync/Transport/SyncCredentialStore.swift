/// Where a device's credentials are stored: in a file, or in the app's store of secrets.
public protocol SyncCredentialStore: Sendable {
  /// Nil if the device is not enrolled.
  func load() throws -> SyncCredentials?
  /// Replaces the stored credentials. They survive the end of the process once this returns.
  func save(_ credentials: SyncCredentials) throws
}
