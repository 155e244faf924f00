import SteadFiles

/// The errors of the disk, whether SQLite meets them or a file for a large value does.
extension SwiftDataError {
  init(_ error: FileError) {
    switch error.code {
    case .noSpace: self = .ofFullDisk
    case .readOnly, .denied: self = .ofReadOnlyFile
    default: self = .ofDisk(error.message)
    }
  }

  static let ofFullDisk = SwiftDataError(
    .storageFull,
    "The disk is full. Nothing was saved and the changes are still pending; free some space "
      + "and save again.")

  static let ofReadOnlyFile = SwiftDataError(
    .readOnlyStore,
    "The store is read-only. Check the file's permissions, or open it with allowsSave: false.")

  static func ofDisk(_ detail: String) -> SwiftDataError {
    .init(
      .storageFailure,
      "The disk failed (\(detail)). Nothing was saved and the changes are still pending; "
        + "check the disk and save again.")
  }
}
