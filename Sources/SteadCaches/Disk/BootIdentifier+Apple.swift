#if canImport(Darwin)
  // Not run on this project's machines.
  import Darwin

  /// Identifies the current boot, so that a file can tell if a power cut may have torn it.
  enum BootIdentifier {
    /// Random digits that the system makes when it starts; empty where it has none.
    static let current: String = {
      var bytes = [UInt8](repeating: 0, count: 64)
      var count = bytes.count
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return "" }
      return String(decoding: bytes[..<count].prefix { $0 != 0 }, as: UTF8.self)
    }()
  }
#endif
