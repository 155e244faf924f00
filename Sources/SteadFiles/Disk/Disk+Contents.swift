import Foundation

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
