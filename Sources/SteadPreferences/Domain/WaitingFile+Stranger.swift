import Foundation
import SteadFiles

// What somebody else has put in the place of a waiting file. It has no values that wait, so it must not keep anybody from
// writing, and its bytes are its owner's.
extension WaitingFile {
  /// The maximum number of things that are kept beside a waiting file.
  private static let keptAsideLimit = 8

  /// Renames what has the name and isn't a waiting file, and returns its new name; nil if there was nothing to do.
  ///
  /// - Throws: ``FileError`` when that is impossible.
  func moveStrangerAway() throws -> String? {
    let disk = POSIXDisk()
    guard let found = try disk.status(at: path), try isStranger(found, disk) else { return nil }
    for number in 1...Self.keptAsideLimit {
      let aside = "\(path).damaged-\(number)"
      guard try disk.status(at: aside) == nil else { continue }
      do {
        try disk.rename(path, to: aside)
      } catch let error as FileError where error.code == .notFound {
        return nil  // Another process was faster.
      }
      return aside.fileName
    }
    throw FileError(
      code: .notAFile,
      message:
        "Something else has the name \(path.fileName), and \(Self.keptAsideLimit) others are kept beside it; "
        + "move them away.", path: path)
  }

  /// Whether what has the name is no file at all.
  var isNoFile: Bool {
    (try? POSIXDisk().status(at: path)).map { $0.kind != .file } ?? false
  }

  private func isStranger(_ status: FileStatus, _ disk: POSIXDisk) throws -> Bool {
    guard status.kind == .file else { return true }
    // A file that is shorter was left by a process that was killed.
    var first = Data(count: Self.magicBytes.count)
    let count = try disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { descriptor in
      try first.withUnsafeMutableBytes { try disk.read(descriptor, into: $0, path: path) }
    }
    return first.prefix(count) != Self.magicBytes.prefix(count)
  }
}

extension DomainFile {
  /// Moves away what has the waiting file's name and isn't one, and reports it.
  func clearWaitingName() throws {
    guard let kept = try waiting.moveStrangerAway() else { return }
    problems.add(
      PreferencesError(
        code: .damaged,
        message:
          "Something else had the name of the file \(self.name).waiting, in which values wait for the journal. "
          + "It is kept as \(kept). Find out which program has put it there.", domain: name))
  }
}
