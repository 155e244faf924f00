/// Writes numbers and bytes in sequence to memory of a known size.
struct VaultWriter {
  private let memory: UnsafeMutableRawBufferPointer
  private(set) var offset = 0

  /// The memory must exist while the writer is used, and be large enough for everything written.
  init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + bytes.count])
      .copyMemory(from: bytes)
    offset += bytes.count
  }

  mutating func put(_ bytes: [UInt8]) { bytes.withUnsafeBytes { put($0) } }

  mutating func put(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { put($0) }
  }

  mutating func put(_ text: String) {
    var text = text
    text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
  }
}
