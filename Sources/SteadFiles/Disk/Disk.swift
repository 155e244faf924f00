import CSteadFiles
import Foundation

/// The system calls that change or read a disk, one method each.
///
/// ``POSIXDisk`` makes them. The tests have a second conformer that stops at a chosen call, as a machine does
/// on a power loss, so that each step of a write is tried as its last.
package protocol Disk: Sendable {
  /// Opens a file; one that it creates has all permissions of `mode`, even those that the umask withholds.
  func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32
  /// Closes a descriptor; errors are ignored.
  func close(_ descriptor: Int32)
  /// The status of an open file, with the time of its birth where the system knows it.
  func status(_ descriptor: Int32, path: String) throws -> FileStatus
  /// The status of the path itself, even if it is a symbolic link; nil when nothing exists there.
  func status(at path: String) throws -> FileStatus?
  /// What a symbolic link has: an absolute path, or one relative to the link's directory.
  func destination(ofLink path: String) throws -> String
  /// Reads at most as many bytes as the buffer has, and returns their number; 0 at the end of the file.
  func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, path: String) throws
    -> Int
  /// Writes at the descriptor's position, and returns how many bytes were written, perhaps fewer than given.
  func write(_ descriptor: Int32, from buffer: UnsafeRawBufferPointer, path: String) throws -> Int
  func setMode(_ descriptor: Int32, _ mode: mode_t, path: String) throws
  func setOwner(_ descriptor: Int32, user: uid_t, group: gid_t, path: String) throws
  /// Sets a file's dates to the current time.
  func touch(_ path: String) throws
  /// Makes a file's bytes and metadata durable, or a directory's entries.
  func sync(_ descriptor: Int32, path: String) throws
  /// Makes a file's bytes durable, with only the metadata needed to read them.
  func syncContents(_ descriptor: Int32, path: String) throws
  /// Returns whether the lock was acquired; always true when `wait` is true.
  func lock(_ descriptor: Int32, wait: Bool, path: String) throws -> Bool
  /// Frees a lock at once, even if a child process has the same open file: closing it alone would not.
  func unlock(_ descriptor: Int32)
  /// Renames a file atomically, and replaces the file that has the new name.
  func rename(_ path: String, to newPath: String) throws
  /// Exchanges two files' names atomically; false where the file system cannot.
  func exchange(_ path: String, with otherPath: String) throws -> Bool
  /// Gives a file a second name (a hard link). Throws `.alreadyExists` if something has that name.
  func link(_ path: String, to newPath: String) throws
  /// Removes a name, which must not be a directory's. A link is removed itself.
  func remove(_ path: String) throws
  /// Creates a directory with all permissions of `mode`, even those that the umask withholds.
  func makeDirectory(_ path: String, mode: mode_t) throws
  /// The names in a directory, without `.` and `..`, in no particular order.
  func names(in directory: String) throws -> [String]
}

extension Disk {
  /// Runs `body` with an open descriptor and always closes it afterwards.
  package func withDescriptor<Result>(
    _ path: String, _ flags: Int32, mode: mode_t = 0, _ body: (Int32) throws -> Result
  ) throws -> Result {
    let descriptor = try open(path, flags, mode: mode)
    defer { close(descriptor) }
    return try body(descriptor)
  }

  // A default, since only tests do something else: `fdatasync`, or what the system has.
  package func syncContents(_ descriptor: Int32, path: String) throws {
    let error = stead_file_sync(descriptor)
    guard error == 0 else { throw FileError(errno: error, doing: "make it durable", path: path) }
  }

  /// Makes changes to a directory's entries durable.
  package func syncDirectory(_ path: String) throws {
    try withDescriptor(path, O_RDONLY | O_DIRECTORY) { try sync($0, path: path) }
  }

  /// Runs `body` while none of our other writers changes names in a directory.
  ///
  /// The lock is on the directory itself, so it leaves no file behind, and ends with the process.
  ///
  /// - Throws: ``FileError`` `.busy` when another process had it locked for all of `wait`.
  package func withLockedDirectory<Result>(
    _ path: String, wait: Duration = directoryLockLimit,
    _ body: (_ descriptor: Int32) throws -> Result
  ) throws -> Result {
    try withDescriptor(path, O_RDONLY | O_DIRECTORY) { descriptor in
      try lockDirectory(descriptor, wait: wait, path: path)
      // Closing isn't enough: the child of a concurrent fork has the directory open, too.
      defer { unlock(descriptor) }
      return try body(descriptor)
    }
  }

  /// Locks a directory, trying again after 20 us to 1 ms: `flock` has no timeout of its own.
  private func lockDirectory(_ descriptor: Int32, wait: Duration, path: String) throws {
    let deadline = ContinuousClock.now + wait
    var pause: useconds_t = 20
    while try !lock(descriptor, wait: false, path: path) {
      guard ContinuousClock.now < deadline else {
        throw FileError(
          code: .busy,
          message:
            "Another program has locked the directory. Resume it if it was stopped, or quit it.",
          path: path)
      }
      usleep(pause)
      pause = min(pause * 2, 1_000)
    }
  }

  /// Creates a directory and its missing parents, each for its owner alone (0700), whatever the umask is.
  ///
  /// - Parameters:
  ///   - path: The directory.
  ///   - home: A home that isn't created, besides that of the process.
  /// - Throws: ``FileError``: `.notFound` when a home would have to be created.
  package func makeDirectories(_ path: String, outside home: HomeDirectory? = nil) throws {
    try home?.checkPresence(for: path, on: self)
    try HomeDirectory.process.checkPresence(for: path, on: self)
    try makeMissingDirectories(path)
  }

  /// Creates the missing directories from the top down, and syncs the parent of each.
  private func makeMissingDirectories(_ path: String) throws {
    if let found = try statusFollowingLinks(path) {
      guard found.kind == .directory else {
        throw FileError(
          code: .notAFile,
          message: "Something else has the name of a directory that is needed; move it away.",
          path: path)
      }
      return
    }
    let parent = path.directoryPath
    if parent != path { try makeMissingDirectories(parent) }
    do {
      try makeDirectory(path, mode: 0o700)
      try takeOverOwner(ofDirectoryAt: path)
    } catch let error as FileError where error.code == .alreadyExists {
      return  // Another process created it first.
    }
    // Otherwise a power loss could take the directory away from under a file that was synced in it.
    try syncDirectory(parent)
  }

  /// Gives a new directory the owner of its parent, which only the superuser may do.
  private func takeOverOwner(ofDirectoryAt path: String) throws {
    guard geteuid() == 0, let parent = try statusFollowingLinks(path.directoryPath),
      parent.user != 0
    else { return }
    try withDescriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) { descriptor in
      try setOwner(descriptor, user: parent.user, group: parent.group, path: path)
    }
  }

  /// The status of what a path leads to; nil when nothing exists there.
  package func statusFollowingLinks(_ path: String) throws -> FileStatus? {
    try endOfLinks(path).status
  }

  /// The path that a chain of symbolic links ends at, whether or not it exists.
  package func resolveLinks(_ path: String) throws -> String { try endOfLinks(path).path }

  /// The path that a chain of symbolic links ends at, and its status; nil when nothing exists there.
  ///
  /// A file is replaced there, so that the link stays a link. Only links of the last component are followed here; the system follows
  /// those of directories.
  package func endOfLinks(_ path: String) throws -> (path: String, status: FileStatus?) {
    // As many as Linux itself follows before it reports a loop.
    let limit = 40
    var path = path
    for _ in 0..<limit {
      let found = try status(at: path)
      guard let found, found.kind == .link else { return (path, found) }
      let destination = try destination(ofLink: path)
      path = destination.hasPrefix("/") ? destination : path.directoryPath + "/" + destination
    }
    throw FileError(errno: ELOOP, doing: "follow the symbolic links", path: path)
  }
}

/// How long a writer waits for a directory that another program has locked.
package let directoryLockLimit = Duration.seconds(10)

extension String {
  /// The path of the directory that contains a path's last component.
  package var directoryPath: String {
    var bytes = self[...]
    while bytes.count > 1, bytes.last == "/" { bytes.removeLast() }
    guard let slash = bytes.lastIndex(of: "/") else { return "." }
    return slash == bytes.startIndex ? "/" : String(bytes[..<slash])
  }

  /// A path's last component.
  package var fileName: String {
    String(split(separator: "/").last ?? "")
  }
}

extension URL {
  /// The path of a file URL, safe for system calls.
  package var checkedPath: String {
    get throws {
      var path = absoluteURL.path(percentEncoded: false)
      // The system would cut a path at a NUL, and use another file.
      guard isFileURL, !path.isEmpty, !path.utf8.contains(0) else {
        throw FileError(code: .invalidName, message: "This isn't the URL of a file.", path: path)
      }
      // With a slash at its end the system would follow a link to a directory, whose own status is wanted.
      while path.count > 1, path.hasSuffix("/") { path.removeLast() }
      return path
    }
  }
}

// MARK: - Reading a file

extension Disk {
  /// Reads all bytes of a regular file.
  package func contents(of path: String, limit: Int) throws -> Data {
    // Without O_NONBLOCK a named pipe would block the caller until somebody writes to it.
    try withDescriptor(path, O_RDONLY | O_NONBLOCK) { descriptor in
      try contents(of: descriptor, limit: limit, path: path)
    }
  }

  /// Reads all bytes of a regular file that is open and has not been read from.
  package func contents(of descriptor: Int32, limit: Int, path: String) throws -> Data {
    let status = try status(descriptor, path: path)
    guard status.kind == .file else {
      throw FileError(
        code: .notAFile, message: "Only a regular file can be read; name another one.", path: path)
    }
    // Before the memory for it is allocated.
    guard status.size <= Int64(limit) else {
      throw tooLarge(limit, path)
    }
    return try contents(of: descriptor, expecting: Int(status.size), limit: limit, path: path)
  }

  private func contents(
    of descriptor: Int32, expecting size: Int, limit: Int, path: String
  ) throws -> Data {
    // One byte more than expected, so that the usual file ends within the first buffer. Files that the kernel
    // generates report a size of 0, and some of them return their contents to a single read only.
    var data = Data(count: size == 0 ? 4096 : size + 1)
    var count = 0
    while true {
      let read = try data.withUnsafeMutableBytes { buffer in
        try self.read(descriptor, into: .init(rebasing: buffer[count...]), path: path)
      }
      count += read
      if read == 0 { break }
      guard count <= limit else {
        throw tooLarge(limit, path)
      }
      // Files that grow meanwhile are longer than their status reported.
      if count == data.count { data.append(Data(count: max(count, 4096))) }
    }
    return data.prefix(count)
  }

  private func tooLarge(_ limit: Int, _ path: String) -> FileError {
    FileError(
      code: .tooLarge,
      message: "The file has more than \(limit) bytes, the most that is read; use a smaller one.",
      path: path)
  }
}

// MARK: - Status

/// What the system knows about a file: `stat(2)`, and for an open file the time of its birth.
package struct FileStatus: Hashable, Sendable {
  package enum Kind: Sendable { case file, directory, link, other }

  /// The device and the inode number, which distinguish a file from all others for as long as it is open, whatever its names.
  package struct Identity: Hashable, Sendable {
    package var device: UInt64
    package var file: UInt64
    /// When an open file was made, in nanoseconds since 1970; 0 if that isn't known, or the file wasn't opened.
    ///
    /// The system gives a removed file's number to a later one. This tells the two apart. It isn't compared: the number of
    /// an open file belongs to no other.
    package var birth: UInt64 = 0

    package static func == (left: Identity, right: Identity) -> Bool {
      left.device == right.device && left.file == right.file
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(device)
      hasher.combine(file)
    }
  }

  /// How long, in seconds, a file must be unmodified before its times reliably reveal a further change: the system's clock for
  /// them advances in steps, of 1 to 10 ms on Linux.
  package static let settlingTime = 0.05

  package var kind: Kind
  package var size: Int64
  package var mode: mode_t
  package var user: uid_t
  package var group: gid_t
  package var identity: Identity
  package var modified: Date
  /// The same in nanoseconds since 1970.
  package var modifiedNanoseconds: Int64
  /// When contents, owner, permissions or the number of links last changed.
  package var changed: Date

  /// - Parameter birth: When it was made, if it is open.
  init(_ status: stat, birth: UInt64 = 0) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .directory
    case S_IFLNK: kind = .link
    default: kind = .other
    }
    size = Int64(status.st_size)
    mode = status.st_mode & 0o7777
    user = status.st_uid
    group = status.st_gid
    identity = Identity(
      device: UInt64(status.st_dev), file: UInt64(status.st_ino), birth: birth)
    modified = status.modificationDate
    modifiedNanoseconds = status.modificationNanoseconds
    changed = status.changeDate
  }
}
