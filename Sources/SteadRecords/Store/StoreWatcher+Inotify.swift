#if os(Linux) || os(Android)
  import Dispatch
  import Foundation

  extension StoreWatcher {
    static func makeSource(
      _ store: URL, _ onChange: @escaping @Sendable () -> Void
    ) -> (any Cancellable)? {
      InotifySource(
        directory: store.deletingLastPathComponent().path,
        name: store.lastPathComponent + "-wal", onChange)
    }
  }

  /// Watches the log's directory, since the log itself comes and goes.
  private final class InotifySource: StoreWatcher.Cancellable {
    // Set once by init; Dispatch's sources may be used from any thread.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    init?(directory: String, name: String, _ onChange: @escaping @Sendable () -> Void) {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      let mask = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)
      guard inotify_add_watch(descriptor, directory, mask) >= 0 else {
        close(descriptor)
        return nil
      }
      let queue = DispatchQueue(label: "stead.store-watcher", qos: .utility)
      source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler {
        if Self.drain(descriptor, lookingFor: name) { onChange() }
      }
      source.setCancelHandler { close(descriptor) }
      source.resume()
    }

    func cancel() { source.cancel() }

    /// Reads all events, and tells whether one is about the file.
    private static func drain(_ descriptor: Int32, lookingFor name: String) -> Bool {
      let size = 4096
      let headerSize = MemoryLayout<inotify_event>.size
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
      defer { buffer.deallocate() }
      var isFound = false
      while true {
        let count = read(descriptor, buffer.baseAddress, size)
        guard count > 0 else { return isFound }
        var offset = 0
        while offset + headerSize <= count {
          let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let bytes = buffer[(offset + headerSize)..<(offset + headerSize + Int(event.len))]
          if String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) == name { isFound = true }
          offset += headerSize + Int(event.len)
        }
      }
    }
  }
#endif
