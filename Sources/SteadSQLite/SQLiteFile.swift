import CSteadSQLite
import Foundation

/// The file of a database, handled without a connection.
package enum SQLiteFile {
  /// Creates an empty file that only its owner may read, unless one exists; SQLite copies its mode to the
  /// files that it creates next to it.
  ///
  /// SQLite itself would let everybody read it. Does nothing where the file system cannot do this: opening
  /// the database then creates the file, or reports why not.
  package static func makePrivate(at path: String) {
    // Created without a descriptor: closing one on the file itself would release the locks that connections
    // of this process may hold on it by then. Fails when anything exists there, even a symbolic link that
    // leads nowhere.
    if mknod(path, S_IFREG | 0o600, 0) == 0 {
      // A umask may have withheld even its owner's permissions.
      _ = fchmodat(AT_FDCWD, path, 0o600, AT_SYMLINK_NOFOLLOW)
      return
    }
    if errno == EEXIST { return }
    // On Apple's systems only the superuser may do that. So it is created under another name, which remains
    // if the process is killed within these lines.
    let draft = "\(path)-\(UUID().uuidString)"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    _ = fchmod(descriptor, 0o600)
    close(descriptor)
    link(draft, path)
    unlink(draft)
  }

  /// The first bytes of a file; fewer when it is shorter, none when it cannot be read.
  ///
  /// Reads through SQLite's own file layer, which keeps a file open while connections of this process hold
  /// locks on it: closing any other descriptor of the file would release their locks, and another process
  /// would then remove the log that they use.
  package static func start(of path: String, count: Int) -> [UInt8] {
    guard let system = sqlite3_vfs_find(nil) else { return [] }
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Int(system.pointee.szOsFile), alignment: MemoryLayout<Int>.alignment)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
    let file = memory.assumingMemoryBound(to: sqlite3_file.self)
    // SQLite searches for parameters after the name, up to a second NUL.
    return (path.utf8CString + [0]).withUnsafeBufferPointer { name in
      let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB
      guard system.pointee.xOpen(system, name.baseAddress, file, flags, nil) == SQLITE_OK,
        let methods = file.pointee.pMethods
      else { return [] }
      defer { _ = methods.pointee.xClose(file) }
      var bytes = [UInt8](repeating: 0, count: count)
      let code = methods.pointee.xRead(file, &bytes, Int32(count), 0)
      return code == SQLITE_OK ? bytes : []
    }
  }
}

extension SQLiteFile {
  /// Where SQLite puts its temporary files.
  package static var temporaryDirectory: String {
    let environment = ProcessInfo.processInfo.environment
    let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { environment[$0] }
    let usual = ["/var/tmp", "/usr/tmp", "/tmp"]
    return (named + usual).first { access($0, W_OK | X_OK) == 0 } ?? "."
  }
}
