// What Scripts/fuzz runs: the vault's parser, on bytes that libFuzzer makes up.
//
// It is compiled together with the parser's own files, and is in no target of the package.

/// Parses an input, and stops the program when what was parsed is not written as it was read.
///
/// The first byte says what follows: a header with the rest of a file, or the length of the values as
/// eight bytes and an opened index.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzVault(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let input = UnsafeRawBufferPointer(start: start, count: count)
  guard let kind = input.first else { return 0 }
  let rest = UnsafeRawBufferPointer(rebasing: input.dropFirst())
  if kind % 2 == 0 { fuzzHeader(rest) } else { fuzzIndex(rest) }
  return 0
}

private func fuzzHeader(_ bytes: UnsafeRawBufferPointer) {
  guard let header = try? VaultHeader(parsing: bytes) else { return }
  precondition(header.valuesRange.upperBound == bytes.count)
  let digestSize = VaultLayout.digestSize
  let written = Array(capacity: header.size - digestSize) { header.write(to: &$0) }
  precondition(written.elementsEqual(bytes[..<(header.size - digestSize)]))
  precondition(header.slots.count <= VaultLayout.slotLimit)
}

private func fuzzIndex(_ bytes: UnsafeRawBufferPointer) {
  let lengthSize = MemoryLayout<UInt64>.size
  guard bytes.count >= lengthSize else { return }
  let length = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
  let valuesLength = Int(length % UInt64(VaultLayout.fileLimit + 1))
  let rest = UnsafeRawBufferPointer(rebasing: bytes[lengthSize...])
  guard let index = try? VaultIndex(parsing: rest, valuesLength: valuesLength) else { return }
  precondition(index.valuesLength == valuesLength)
  precondition(index.encodedSize == rest.count)
  let written = Array(capacity: rest.count) { index.write(to: &$0) }
  precondition(written.elementsEqual(rest[..<written.count]))
  for entry in index.entries {
    precondition((1...SecretID.nameLimit).contains(entry.service.utf8.count))
    precondition((1...SecretID.nameLimit).contains(entry.account.utf8.count))
    precondition(entry.length <= VaultLayout.secretLimit)
  }
}

extension [UInt8] {
  /// What a closure writes.
  fileprivate init(capacity: Int, _ write: (inout VaultWriter) -> Void) {
    self.init(unsafeUninitializedCapacity: capacity) { memory, count in
      var writer = VaultWriter(UnsafeMutableRawBufferPointer(memory))
      write(&writer)
      count = writer.offset
    }
  }
}
