/// Where the credentials of a device are kept: a file, or a store of secrets of the app's.
public protocol SyncCredentialStore: Sendable {
  /// nil where the device is not enrolled.
  func load() throws -> SyncCredentials?
  /// Replaces what is kept; when this returns, it survives the end of the process.
  func save(_ credentials: SyncCredentials) throws
}
