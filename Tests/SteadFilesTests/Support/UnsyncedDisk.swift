@testable import SteadFiles

/// The real disk, but for the syncs: for tests that write thousands of files and lose no power.
struct UnsyncedDisk: ForwardingDisk {
  let real = POSIXDisk()
  /// Called when a file has taken another's name.
  var didRename: @Sendable () -> Void = {}

  func sync(_ descriptor: Int32, path: String) throws {}

  func rename(_ path: String, to newPath: String) throws {
    try real.rename(path, to: newPath)
    didRename()
  }
}
