import SteadFiles

/// The errors of the disk, whether SQLite meets them or a file for a large value does.
extension SwiftDataError {
  /// The error of a save whose large value can't be written to its file.
  init(_ error: FileError) {
    switch error.code {
    case .noSpace: self = .ofFullDisk(error)
    case .readOnly, .denied: self = .ofReadOnlyFile(error)
    default:
      self.init(
        .storageFailure,
        "The file of a large value could not be written. Nothing was saved and the changes are still pending; "
          + "see the cause, and save again.", cause: error)
    }
  }

  static func ofFullDisk(_ cause: (any Error)? = nil) -> SwiftDataError {
    .init(
      .storageFull,
      "The disk is full, and nothing was written. Free some space, and try again.",
      ofSave:
        "The disk is full. Nothing was saved and the changes are still pending; free some space "
        + "and save again.", cause: cause)
  }

  static func ofReadOnlyFile(_ cause: (any Error)? = nil) -> SwiftDataError {
    .init(
      .readOnlyStore,
      "The store is read-only. Check the file's permissions, or open it with allowsSave: false.",
      cause: cause)
  }
}
