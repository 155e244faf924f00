import Foundation
import SteadFiles

// What somebody else has put in the place of a waiting file. It has no values that wait, so it must not keep anybody from
// writing, and its bytes are its owner's.
extension WaitingFile {
  /// How long to wait for another process that moves something away.
  private static let directoryLockWait = Duration.milliseconds(100)
  /// The maximum number of things that are kept beside a waiting file.
  private static let keptAsideLimit = 8

  /// Renames what has the name and isn't a waiting file, and returns its new name; nil if there was nothing to do.
  ///
  /// - Throws: ``FileError`` when that is impossible.
  func moveStrangerAway() throws -> String? {
    guard isStranger else { return nil }
    let disk = POSIXDisk()
    // Otherwise two processes would find the same free name, and the slower one would move away, onto the stranger, the
    // waiting file that the other one has made meanwhile.
    return try disk.withLockedDirectory(path.directoryPath, wait: Self.directoryLockWait) { _ in
      guard let found = try disk.status(at: path), try isStranger(found, disk) else { return nil }
      for number in 1...Self.keptAsideLimit {
        let aside = "\(path).damaged-\(number)"
        guard try disk.status(at: aside) == nil else { continue }
        do {
          try disk.rename(path, to: aside)
        } catch let error as FileError where error.code == .notFound {
          return nil  // Somebody has removed it.
        }
        return aside.fileName
      }
      throw FileError(
        code: .notAFile,
        message:
          "Something else has the name \(path.fileName), and \(Self.keptAsideLimit) others are kept beside it; "
          + "move them away.", path: path)
    }
  }

  /// Whether what has the name isn't a waiting file.
  ///
  /// A file that can't be read may be one, with values that wait.
  var isStranger: Bool {
    let disk = POSIXDisk()
    guard let found = try? disk.status(at: path) else { return false }
    return (try? isStranger(found, disk)) ?? false
  }

  private func isStranger(_ status: FileStatus, _ disk: POSIXDisk) throws -> Bool {
    guard status.kind == .file else { return true }
    var first = Data(count: Self.magicBytes.count)
    let count = try disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { descriptor in
      try first.withUnsafeMutableBytes { try disk.read(descriptor, into: $0, path: path) }
    }
    return !Self.isBeginning(first.prefix(count))
  }

  /// Whether a waiting file may begin with some bytes.
  ///
  /// A process that was killed has left less than a whole beginning.
  static func isBeginning(_ bytes: Data) -> Bool {
    bytes.prefix(magicBytes.count) == magicBytes.prefix(bytes.count)
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
