#if !canImport(Darwin)
  import Foundation

  /// Identifies the current boot, so that a file can tell if a power cut may have torn it.
  enum BootIdentifier {
    /// Random digits that Linux makes when it starts; empty where it has none.
    static let current: String = {
      guard let descriptor = fopen("/proc/sys/kernel/random/boot_id", "re") else { return "" }
      defer { fclose(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 36)
      let count = fread(&bytes, 1, bytes.count, descriptor)
      return String(decoding: bytes[..<count], as: UTF8.self)
    }()
  }
#endif
