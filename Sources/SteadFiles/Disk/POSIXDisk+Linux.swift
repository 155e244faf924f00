#if !canImport(Darwin)
  import Foundation

  extension POSIXDisk {
    package func sync(_ descriptor: Int32, path: String) throws {
      while fsync(descriptor) != 0 {
        let number = errno
        // Some file systems do not store directories on a disk and report it with these errors; nothing can be lost.
        if number == EINVAL || number == ENOTSUP { return }
        if number != EINTR {
          throw FileError(errno: number, doing: "make it durable", path: path)
        }
      }
    }

    /// Notifies the waiters for a lock on the file that it is free.
    func announceRelease(_ descriptor: Int32) {
      // Nothing to do: inotify reports that the file is closed.
    }
  }

  extension stat {
    var modificationDate: Date {
      Date(timeIntervalSince1970: Double(st_mtim.tv_sec) + Double(st_mtim.tv_nsec) / 1e9)
    }

    var modificationNanoseconds: Int64 {
      Int64(st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(st_mtim.tv_nsec)
    }

    var changeDate: Date {
      Date(timeIntervalSince1970: Double(st_ctim.tv_sec) + Double(st_ctim.tv_nsec) / 1e9)
    }
  }
#endif
