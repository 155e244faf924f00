#if os(Linux)
  import Foundation

  /// What inotify tells of the files in a directory.
  final class DirectoryEvents {
    private let descriptor: Int32

    init(_ directory: URL) {
      descriptor = inotify_init1(Int32(IN_NONBLOCK))
      let events = IN_ATTRIB | IN_MOVED_TO
      _ = inotify_add_watch(descriptor, directory.filePath, UInt32(events))
    }

    deinit { close(descriptor) }

    /// The names that something happened to since the last call, once for each event.
    func take() -> [String] {
      var buffer = [UInt8](repeating: 0, count: 16_384)
      let count = read(descriptor, &buffer, buffer.count)
      var names: [String] = []
      var offset = 0
      while offset < count {
        let length = buffer.withUnsafeBytes {
          Int($0.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
        }
        let name = buffer[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
        names.append(String(decoding: name, as: UTF8.self))
        offset += 16 + length
      }
      return names
    }
  }
#endif
