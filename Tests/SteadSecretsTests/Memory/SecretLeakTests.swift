#if os(Linux)
  import Foundation
  import SteadSecrets
  import Testing

  /// What goes through a store leaves no copy in the memory of the process.
  @Suite(.ownThread) struct SecretLeakTests {
    /// Those that promise it; what is in the clear in a file was so in memory.
    static let stores = TestedStore.all.filter { $0.name != TestedStore.plaintext.name }

    @Test(arguments: stores, [48, 2048, 20_000])
    func `no copy is left in memory`(_ tested: TestedStore, size: Int) throws {
      let scan = try MemoryScan(size: size / MemoryScan.pieceSize * MemoryScan.pieceSize)
      let place = try tested.place()
      let secrets = try place.secrets()
      let other = try place.secrets()
      for round in 0..<3 {
        try keep(scan, in: secrets)
        let isSame = try other.withBytes(for: "a") { bytes in
          bytes.count == scan.size && bytes.elementsEqual(scan.secret)
        }
        #expect(isSame == true)
        try exchange(scan, in: secrets)
        #expect(try other.items().count == 1)
        if round < 2 { #expect(try secrets.remove("a")) }
      }
      // The store in memory has what it was given, so the last copy is removed before the search.
      try secrets.remove("a")
      #expect(try scan.findings() == [])
    }

    /// The scan finds what is there, so that finding nothing says something.
    @Test func `finds what is there`() throws {
      let scan = try MemoryScan(size: 48)
      #expect(try scan.findings() == [])
      let held = SecretBytes(copying: UnsafeRawBufferPointer(scan.secret))
      #expect(try scan.findings().count == 1)
      withExtendedLifetime(held) {}

      // One piece of it in the heap, at no round address.
      let block = UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 16)
      defer { block.deallocate() }
      scan.copyPiece(to: block + 5)
      #expect(try scan.findings().contains("[heap]") || scan.findings().contains("anonymous"))
      memset(block, 0, 100)
      #expect(try withExtendedLifetime(held) { try scan.findings().count } == 1)
    }

    private func keep(_ scan: MemoryScan, in secrets: Secrets) throws {
      try secrets.insert(SecretBytes(copying: UnsafeRawBufferPointer(scan.secret)), for: "a")
    }

    private func exchange(_ scan: MemoryScan, in secrets: Secrets) throws {
      let bytes = SecretBytes(copying: UnsafeRawBufferPointer(scan.secret))
      try secrets.replace(bytes, with: bytes, for: "a")
      #expect(try secrets.bytes(for: "a") == bytes)
    }
  }
#endif
