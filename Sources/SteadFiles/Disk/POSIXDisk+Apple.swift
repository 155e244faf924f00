#if canImport(Darwin)
  import Foundation

  extension POSIXDisk {
    package func sync(_ descriptor: Int32, path: String) throws {
      // Apple's fsync leaves the bytes in the drive's own cache. Not every file system supports more.
      guard fcntl(descriptor, F_FULLFSYNC) != 0, fsync(descriptor) != 0 else { return }
      throw FileError(errno: errno, doing: "make it durable", path: path)
    }

    /// Notifies the waiters for a lock on the file that it is free.
    func announceRelease(_ descriptor: Int32) {
      // A kqueue does not report that a file was closed.
      _ = futimens(descriptor, nil)
    }
  }

  extension stat {
    var modificationDate: Date {
      Date(
        timeIntervalSince1970: Double(st_mtimespec.tv_sec) + Double(st_mtimespec.tv_nsec) / 1e9)
    }

    var modificationNanoseconds: Int64 {
      Int64(st_mtimespec.tv_sec) &* 1_000_000_000 &+ Int64(st_mtimespec.tv_nsec)
    }

    var changeDate: Date {
      Date(
        timeIntervalSince1970: Double(st_ctimespec.tv_sec) + Double(st_ctimespec.tv_nsec) / 1e9)
    }
  }
#endif
