#if os(Linux) || os(Android)
  import Foundation

  /// One thing that the kernel tells of a watched directory.
  struct InotifyEvent {
    /// The directory's number; -1 when the kernel lost count.
    var watch: Int32
    var mask: UInt32
    /// What it is about in the directory; empty when it is the directory itself.
    var name: String

    /// Stores into a mapping are not among them; whoever makes some sets the file's date.
    static let wanted = UInt32(
      IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
        | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

    var isOverflow: Bool { has(IN_Q_OVERFLOW) }
    /// The directory, or its name, is gone; the kernel watches one that moved in its new place.
    var isEnd: Bool {
      has(IN_DELETE_SELF) || has(IN_MOVE_SELF) || has(IN_UNMOUNT) || has(IN_IGNORED)
    }
    var isMove: Bool { has(IN_MOVE_SELF) }

    private func has(_ bit: some BinaryInteger) -> Bool { mask & UInt32(bit) != 0 }

    /// The events that one `read` has put into a buffer.
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
