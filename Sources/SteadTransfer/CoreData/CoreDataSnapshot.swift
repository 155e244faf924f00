import Foundation
import SteadFiles

/// A copy of a store's files in a directory of this user's alone, which goes with it.
///
/// SQLite reads the copy, since it writes even where it only reads: an index of the log beside the file,
/// and the log's pages into it. The original is read, and nothing else.
final class CoreDataSnapshot: Sendable {
  /// How often a copy is begun anew because a file changed meanwhile.
  static let attemptLimit = 20
  /// How long, in seconds, the files must have been left alone for their times to tell of a change.
  static let settlingTime = 0.05
  /// Bytes that are copied at a time.
  private static let blockSize = 1 << 20
  /// The store itself, its write-ahead log, and the journal of a writer that was cut off.
  private static let suffixes = ["", "-wal", "-journal"]

  /// The copy.
  let store: URL
  private let directory: URL
  private let disk = POSIXDisk()

  /// - Parameter path: The store's path, without symbolic links.
  init(of path: String) throws {
    directory = try Self.makeDirectory()
    store = directory.appending(path: "copy.store", directoryHint: .notDirectory)
    for _ in 0..<Self.attemptLimit {
      guard let before = try settledState(of: path) else { continue }
      do {
        try copy(path, before)
        if try state(of: path) == before { return }
      } catch let error as FileError where error.code == .notFound {
        // A writer has removed its journal meanwhile.
        continue
      }
    }
    throw TransferError(
      code: .changed,
      message: "\(path) is being written to. End the program that has it open, then import again.")
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  private static func makeDirectory() throws -> URL {
    let place = FileManager.default.temporaryDirectory
    // mkdtemp puts letters of its own in the place of the six at the end.
    var template = Array(place.appending(path: "stead-import-XXXXXX").path.utf8CString)
    guard mkdtemp(&template) != nil else {
      throw FileError(errno: errno, doing: "make a directory for a copy in", path: place.path)
    }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return URL(filePath: path, directoryHint: .isDirectory)
  }

  /// What is known of each of the files without opening it.
  private func state(of path: String) throws -> [FileStatus?] {
    try Self.suffixes.map { try disk.status(at: path + $0) }
  }

  /// The files' state, if their last change is so long ago that a further one would show.
  private func settledState(of path: String) throws -> [FileStatus?]? {
    let state = try state(of: path)
    guard let newest = state.compactMap({ $0?.changed }).max() else {
      throw TransferError(
        code: .unreadable, message: "There is no file at \(path). Give the URL of the store.")
    }
    let age = Date().timeIntervalSince(newest)
    // A time in the future says nothing, and would be waited for in vain.
    guard age >= 0, age < Self.settlingTime else { return state }
    // There is no event to wait for: the clock has to move on, so that a later change has a later time.
    Thread.sleep(forTimeInterval: Self.settlingTime - age)
    return try self.state(of: path) == state ? state : nil
  }

  private func copy(_ path: String, _ state: [FileStatus?]) throws {
    for (suffix, status) in zip(Self.suffixes, state) {
      let copy = store.path + suffix
      guard let status else {
        if try disk.status(at: copy) != nil { try disk.remove(copy) }
        if suffix.isEmpty {
          throw TransferError(
            code: .unreadable, message: "There is no file at \(path). Give the URL of the store.")
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
