#if os(Linux) || os(Android)
  import Foundation

  /// One event that the kernel reports for a watched directory.
  struct InotifyEvent {
    /// The watch descriptor of the directory; -1 when the kernel dropped events.
    var watch: Int32
    var mask: UInt32
    /// The name of the entry in the directory; empty for the directory itself.
    var name: String

    /// Stores into a mapping are not included; a writer that makes any sets the file's date.
    static let wanted = UInt32(
      IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
        | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

    var isOverflow: Bool { has(IN_Q_OVERFLOW) }
    /// Whether the directory, or its name, is gone; the kernel keeps watching a moved directory in its new place.
    var isEnd: Bool {
      has(IN_DELETE_SELF) || has(IN_MOVE_SELF) || has(IN_UNMOUNT) || has(IN_IGNORED)
    }
    var isMove: Bool { has(IN_MOVE_SELF) }

    private func has(_ bit: some BinaryInteger) -> Bool { mask & UInt32(bit) != 0 }

    /// Parses the events that one `read` has put into a buffer.
    static func parse(_ buffer: UnsafeRawBufferPointer) -> [InotifyEvent] {
      let headerSize = MemoryLayout<inotify_event>.size
      var events: [InotifyEvent] = []
      var offset = 0
      while offset + headerSize <= buffer.count {
        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let end = min(offset + headerSize + Int(event.len), buffer.count)
        let bytes = buffer[(offset + headerSize)..<end].prefix { $0 != 0 }
        events.append(
          InotifyEvent(
            watch: event.wd, mask: event.mask, name: String(decoding: bytes, as: UTF8.self)))
        offset = end
      }
      return events
    }
  }
#endif
