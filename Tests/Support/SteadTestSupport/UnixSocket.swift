import Foundation

/// A socket that has a place among the files.
package enum UnixSocket {
  /// Connects to one that somebody listens to.
  package static func connect(_ path: String) throws -> Int32 {
    try make(path) { Foundation.connect($0, $1, $2) }
  }

  /// Makes one that takes connections and never reads from them.
  package static func listen(_ path: String) throws -> Int32 {
    let descriptor = try make(path) { Foundation.bind($0, $1, $2) }
    guard Foundation.listen(descriptor, 16) == 0 else { throw CocoaError(.fileWriteUnknown) }
    return descriptor
  }

  private static func make(
    _ path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isShort = withUnsafeMutableBytes(of: &address.sun_path) { target in
      guard path.utf8.count < target.count else { return false }
      target.copyBytes(from: path.utf8)
      return true
    }
    #if canImport(Glibc)
      let type = Int32(SOCK_STREAM.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    let descriptor = socket(AF_UNIX, type, 0)
    guard isShort, descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else {
      close(descriptor)
      throw CocoaError(.fileWriteUnknown)
    }
    return descriptor
  }
}
