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

  /// Whether the file system that contains a path is mounted read-only.
  package func isReadOnlySystem(at path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && UInt64(status.f_flag) & UInt64(ST_RDONLY) != 0
  }
}
