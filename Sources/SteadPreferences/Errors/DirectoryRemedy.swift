import Foundation
import SteadFiles

/// What a person can do about the directory of preferences.
struct DirectoryRemedy {
  /// Whether the files are only read.
  var isReadOnly = false
  /// Whether the program names the directory, so that no variable moves it; nil if that isn't known.
  var isNamed: Bool?

  /// For files that cannot be opened or written.
  private var able: String {
    let able = isReadOnly ? "readable" : "writable"
    let other = variable.map { ", or set \($0) to one that is" } ?? ""
    return "Make the directory \(able)\(other)\(end)"
  }

  /// For a missing home.
  private var otherHome: String {
    if isNamed == true { return "A directory that isn't in it can be named, too." }
    return variable.map { "\($0) can name another directory for preferences\(end)" }
      ?? "A directory can also be passed to the initializer."
  }

  /// For a file system that lacks what preferences need.
  var local: String {
    variable.map { "Set \($0) to a directory on a local disk\(end)" }
      ?? "Move the directory to a local disk."
  }

  private var variable: String? { isNamed == true ? nil : Self.variable }
  private var end: String {
    isNamed == nil && variable != nil ? ", unless the program names the directory." : "."
  }

  /// For files that cannot be opened or written because of an error.
  func remedy(for error: any Error) -> String {
    let known = error as? PreferencesError
    guard let file = known?.cause as? FileError ?? error as? FileError else {
      return known?.message ?? able
    }
    if file.isMissingHome { return "\(file.message) \(otherHome)" }
    if file.isUnsupported { return "The file system lacks locks or cannot map files. \(local)" }
    if let remedy = file.remedyForDescriptors { return remedy }
    switch file.code {
    case .noSpace: return "The disk is full. Free some space on it."
    case .changed, .damaged, .newerVersion, .invalidName, .tooLarge: return file.description
    default: return remedy(forFileAt: file.path) ?? able
    }
  }

  /// nil if the directory is the obstacle.
  private func remedy(forFileAt path: String) -> String? {
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
    guard access(path, isReadOnly ? R_OK : R_OK | W_OK) != 0, errno == EACCES else { return nil }
    return isReadOnly
      ? "Make the file \(name) readable for this user."
      : "Make the file \(name) readable and writable for this user, or move it away."
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
