import CSteadFiles
import Foundation

/// The system's real disk.
package struct POSIXDisk: Disk {
  package init() {}

  package func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32 {
    guard flags & O_CREAT != 0 else { return try openFile(path, flags, mode) }
    if flags & O_EXCL != 0 { return try createFile(path, flags, mode) }
    // In two steps, so that it is known whether this call has created the file, and may set its permissions.
    do {
      return try openFile(path, flags & ~O_CREAT, mode)
    } catch let error as FileError where error.code == .notFound {}
    do {
      return try createFile(path, flags | O_EXCL, mode)
    } catch let error as FileError where error.code == .alreadyExists {
      // Another process created it meanwhile, or a symbolic link leads to a missing file.
      return try openFile(path, flags, mode)
    }
  }

  private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) throws -> Int32 {
    // O_CLOEXEC: a program that is started meanwhile must not inherit the file, nor the lock that comes with it.
    try call("open the file", path) { Foundation.open(path, flags | O_CLOEXEC, mode) }
  }

  /// Creates a file, and gives it the permissions that the umask withheld.
  private func createFile(_ path: String, _ flags: Int32, _ mode: mode_t) throws -> Int32 {
    let descriptor = try openFile(path, flags, mode)
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & mode != mode {
      // It fails on file systems without permissions, where all that is needed is allowed anyway.
      _ = fchmod(descriptor, status.st_mode & 0o7777 | mode)
    }
    return descriptor
  }

  package func close(_ descriptor: Int32) {
    // Never retried after EINTR: Linux has already closed it, and the number may be another file's.
    _ = Foundation.close(descriptor)
  }

  package func status(_ descriptor: Int32, path: String) throws -> FileStatus {
    var status = stat()
    _ = try call("read its status", path) { fstat(descriptor, &status) }
    return FileStatus(status, birth: stead_file_birth(descriptor))
  }

  package func status(at path: String) throws -> FileStatus? {
    var status = stat()
    // A missing file is no error here, and making one would cost ten times as much as the call.
    let isMissing = try call("read its status", path) { () -> Int32 in
      let result = lstat(path, &status)
      return result != 0 && errno == ENOENT ? 1 : result
    }
    return isMissing == 0 ? FileStatus(status) : nil
  }

  package func destination(ofLink path: String) throws -> String {
    let limit = Int(PATH_MAX)
    var bytes = [CChar](repeating: 0, count: limit)
    // No destination is longer, so `readlink` never has to truncate one. It appends no NUL.
    let count = try call("read the symbolic link", path) { readlink(path, &bytes, limit) }
    return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  package func read(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, path: String
  ) throws -> Int {
    try call("read the file", path) {
      Foundation.read(descriptor, buffer.baseAddress, buffer.count)
    }
  }

  package func write(
    _ descriptor: Int32, from buffer: UnsafeRawBufferPointer, path: String
  ) throws -> Int {
    try call("write to the file", path) {
      Foundation.write(descriptor, buffer.baseAddress, buffer.count)
    }
  }

  package func setMode(_ descriptor: Int32, _ mode: mode_t, path: String) throws {
    _ = try call("set the permissions", path) { fchmod(descriptor, mode) }
  }

  package func setOwner(_ descriptor: Int32, user: uid_t, group: gid_t, path: String) throws {
    _ = try call("set the owner", path) { fchown(descriptor, user, group) }
  }

  package func touch(_ path: String) throws {
    _ = try call("set the modification date", path) { utimensat(AT_FDCWD, path, nil, 0) }
  }

  package func lock(_ descriptor: Int32, wait: Bool, path: String) throws -> Bool {
    do {
      _ = try call("lock the file", path) { flock(descriptor, wait ? LOCK_EX : LOCK_EX | LOCK_NB) }
      return true
    } catch let error as FileError where (error.cause as? POSIXError)?.code == .EWOULDBLOCK {
      return false
    }
  }

  package func unlock(_ descriptor: Int32) {
    // It fails only for a descriptor without a lock.
    _ = flock(descriptor, LOCK_UN)
  }

  package func rename(_ path: String, to newPath: String) throws {
    _ = try call("put the new file in place", newPath) { Foundation.rename(path, newPath) }
  }

  package func exchange(_ path: String, with otherPath: String) throws -> Bool {
    let error = stead_file_exchange(path, otherPath)
    if error == ENOTSUP { return false }
    guard error == 0 else {
      throw FileError(errno: error, doing: "put the new file in place", path: otherPath)
    }
    return true
  }

  package func link(_ path: String, to newPath: String) throws {
    _ = try call("put the new file in place", newPath) { Foundation.link(path, newPath) }
  }

  package func remove(_ path: String) throws {
    _ = try call("remove the file", path) { unlink(path) }
  }

  package func makeDirectory(_ path: String, mode: mode_t) throws {
    _ = try call("create the directory", path) { mkdir(path, mode) }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_mode & mode != mode
    else { return }
    // A umask of 0177 makes a directory that nobody can enter. The bits that the parent passes on, such as
    // the set-group-ID bit, stay. It fails on file systems without permissions, where none are missing.
    let full = status.st_mode & 0o7777 | mode
    if fchmodat(AT_FDCWD, path, full, AT_SYMLINK_NOFOLLOW) != 0, errno == EOPNOTSUPP {
      // Not every C library knows the flag. The directory is this process's, a moment old.
      _ = chmod(path, full)
    }
  }

  package func names(in directory: String) throws -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: directory)
    } catch {
      guard try statusFollowingLinks(directory) != nil else {
        throw FileError(errno: ENOENT, doing: "list the directory", path: directory)
      }
      throw FileError(
        code: .failed, message: "Could not list the directory.", path: directory, cause: error)
    }
  }

  /// Retries a system call that a signal interrupts, and throws the error from `errno`.
  private func call<Result: SignedInteger>(
    _ action: String, _ path: String, _ body: () -> Result
  ) throws -> Result {
    while true {
      let result = body()
      if result >= 0 { return result }
      let number = errno
      if number != EINTR { throw FileError(errno: number, doing: action, path: path) }
    }
  }
}

// MARK: - Limits of the system

extension POSIXDisk {
  /// How many bytes this process may still write to the file system that contains a path.
  package func freeBytes(at path: String) throws -> Int64 {
    var status = statvfs()
    while statvfs(path, &status) != 0 {
      let number = errno
      if number != EINTR {
        throw FileError(errno: number, doing: "read the free space of its disk", path: path)
      }
    }
    // `f_bavail`, which leaves out the blocks that are reserved for the superuser. The product of two numbers that a
    // file system reports may overflow.
    let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return free.overflow ? .max : Int64(clamping: free.partialValue)
  }

  /// Whether this process can't open a few more files, as SQLite does for a store with its log: it has as many open as it
  /// may, or the system has.
  package static var lacksDescriptors: Bool {
    var opened: [Int32] = []
    defer { for descriptor in opened { POSIXDisk().close(descriptor) } }
    for _ in 0..<4 {
      guard let descriptor = try? POSIXDisk().open("/dev/null", O_RDONLY, mode: 0) else {
        return true
      }
      opened.append(descriptor)
    }
    return false
  }

  /// Whether a file is a mount point of its own, as containers mount single files; false if the system doesn't tell.
  package func isMountPoint(_ path: String) -> Bool { stead_file_is_mount(path) != 0 }

  /// Whether the file system that contains a path is mounted read-only.
  package func isReadOnlySystem(at path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && UInt64(status.f_flag) & UInt64(ST_RDONLY) != 0
  }
}
