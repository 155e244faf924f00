extension SecretBytes {
  /// Unpredictable bytes from the system.
  static func random(count: Int) -> SecretBytes {
    SecretBytes(count: count) { $0.fillWithRandom() }
  }
}

extension UnsafeMutableRawBufferPointer {
  fileprivate func fillWithRandom() {
    var generator = SystemRandomNumberGenerator()
    // Each number is a system call, so all of its bytes are used.
    for start in stride(from: 0, to: count, by: MemoryLayout<UInt64>.size) {
      Swift.withUnsafeBytes(of: generator.next()) { bytes in
        for offset in 0..<Swift.min(bytes.count, count - start) {
          self[start + offset] = bytes[offset]
        }
      }
    }
  }
}

extension [UInt8] {
  /// Unpredictable bytes from the system.
  static func random(count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
      UnsafeMutableRawBufferPointer(memory).fillWithRandom()
      initialized = count
    }
  }
}
