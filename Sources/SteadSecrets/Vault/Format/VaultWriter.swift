/// Puts numbers and bytes into memory of a known size, one behind the other.
struct VaultWriter {
  private let memory: UnsafeMutableRawBufferPointer
  private(set) var offset = 0

  /// The memory must be there while the writer is used, and large enough for all that is put.
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
