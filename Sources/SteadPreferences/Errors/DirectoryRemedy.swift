import Foundation
import SteadFiles

extension DirectoryRemedy {
  /// For files that cannot be opened or written because of an error.
  static func remedy(for error: any Error) -> String {
    let known = error as? PreferencesError
    guard let file = known?.cause as? FileError ?? error as? FileError else {
      return known?.message ?? writable
    }
    if file.isMissingHome { return "\(file.message) \(otherHome)" }
    if file.isUnsupported { return "The file system lacks locks or cannot map files. \(local)" }
    if let remedy = file.remedyForDescriptors { return remedy }
    switch file.code {
    case .noSpace: return "The disk is full. Free some space on it."
    case .changed, .damaged, .newerVersion, .invalidName, .tooLarge: return file.description
    default: return remedy(forFileAt: file.path) ?? writable
    }
  }

  /// nil if the directory is the obstacle.
  private static func remedy(forFileAt path: String) -> String? {
    let (disk, name) = (POSIXDisk(), path.fileName)
    let found: FileStatus?
    do {
      found = try disk.statusFollowingLinks(path)
    } catch {
      // Links that lead in a circle.
      found = try? disk.status(at: path)
    }
    guard let status = found else { return nil }
    if status.kind != .file {
      return status.kind == .directory && access(path, W_OK) != 0
        ? nil : "Move away \(name), which is not a regular file."
    }
    // A file that can be written is replaced in a directory that can't.
    guard access(path, R_OK | W_OK) != 0, errno == EACCES else { return nil }
    return "Make the file \(name) readable and writable for this user, or move it away."
  }
}

extension FileError {
  /// nil unless the process, or the system, has as many files open as it may.
  fileprivate var remedyForDescriptors: String? {
    switch (cause as? POSIXError)?.code {
    case .EMFILE?:
      "This process has too many files open. Close some, or raise the limit with ulimit -n."
    case .ENFILE?: "The system has too many files open. End programs, or raise fs.file-max."
    default: nil
    }
  }
}
