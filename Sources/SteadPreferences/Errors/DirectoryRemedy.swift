import SteadFiles

extension DirectoryRemedy {
  /// For files that cannot be written because of an error.
  static func remedy(for error: any Error) -> String {
    guard let file = (error as? PreferencesError)?.cause as? FileError ?? error as? FileError else {
      return writable
    }
    if file.isMissingHome { return "\(file.message) \(otherHome)" }
    if file.isUnsupported { return "The file system lacks locks or cannot map files. \(local)" }
    return writable
  }
}
