import Foundation
import SteadFiles

/// A copy of a store's files in a directory of this user's alone, which goes with it.
///
/// SQLite reads the copy, since it writes even if it only reads: an index of the log next to the file,
/// and the log's pages into it. The original is read, and nothing else.
final class CoreDataSnapshot: Sendable {
  /// The maximum number of copies that are started because a file changed meanwhile.
  static let attemptLimit = 20

  /// The copy.
  let store: URL
  /// What may be missing from it, as a sentence.
  let warning: String?
  private let workspace: CoreDataWorkspace

  /// - Parameter path: The store's path, without symbolic links.
  init(of path: String) throws {
    workspace = try CoreDataWorkspace()
    store = workspace.url.appending(path: "copy.store", directoryHint: .notDirectory)
    try Self.copy(path, to: store)
    warning = try CoreDataLogCheck.warning(
      about: store, logNamed: URL(filePath: path).lastPathComponent + "-wal")
  }

  private static func copy(_ path: String, to store: URL) throws {
    let copying = CoreDataCopying(store: store)
    for _ in 0..<attemptLimit {
      guard let before = try copying.settledState(of: path) else { continue }
      do {
        try copying.copy(path, before)
        if try CoreDataState(of: path) == before { return }
      } catch let error as FileError where error.code == .notFound {
        // A writer has removed its journal meanwhile.
        continue
      }
    }
    throw TransferError(
      code: .changed,
      message:
        "Another program is writing to \(path). End the program that has it open, then import again."
    )
  }
}

/// Copies a store's files once.
private struct CoreDataCopying {
  /// Bytes that are copied at a time.
  private static let blockSize = 1 << 20

  let store: URL
  private let disk = POSIXDisk()

  init(store: URL) { self.store = store }

  /// The files' state, if their last change is so long ago that a further one would show.
  func settledState(of path: String) throws -> CoreDataState? {
    let state = try CoreDataState(of: path)
    guard let newest = state.files.compactMap({ $0?.changed }).max() else {
      throw TransferError(
        code: .unreadable, message: "No file exists at \(path). Give the URL of the store.")
    }
    if state.files.allSatisfy({ $0?.isSettled ?? true }) { return state }
    // A sleep, because there is no event to wait for: the clock must advance, so that a later change gets a later
    // time.
    Thread.sleep(
      forTimeInterval: max(0, FileStatus.settlingTime - Date().timeIntervalSince(newest)))
    return try CoreDataState(of: path) == state ? state : nil
  }

  func copy(_ path: String, _ state: CoreDataState) throws {
    for (suffix, status) in zip(CoreDataState.suffixes, state.files) {
      let copy = store.path + suffix
      guard let status else {
        if try disk.status(at: copy) != nil { try disk.remove(copy) }
        if suffix.isEmpty {
          throw TransferError(
            code: .unreadable, message: "No file exists at \(path). Give the URL of the store.")
        }
        continue
      }
      guard status.kind == .file else {
        throw TransferError(
          code: .unreadable, message: "\(path + suffix) is not a file. Give the URL of the store.")
      }
      try copyFile(path + suffix, to: copy)
    }
  }

  private func copyFile(_ path: String, to copy: String) throws {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
    defer { block.deallocate() }
    try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) { source in
      try disk.withDescriptor(copy, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600) { target in
        while true {
          let count = try disk.read(source, into: block, path: path)
          if count == 0 { return }
          var rest = UnsafeRawBufferPointer(block)[..<count]
          while !rest.isEmpty {
            let written = try disk.write(
              target, from: UnsafeRawBufferPointer(rebasing: rest), path: copy)
            rest = rest.dropFirst(written)
          }
        }
      }
    }
  }
}
