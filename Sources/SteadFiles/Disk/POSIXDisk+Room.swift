import CSteadFiles
import Foundation

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
