import CForkSupport
import Foundation
import SteadSecrets
import Synchronization
import Testing

#if os(Linux)
  /// RLIMIT_MEMLOCK, which the C library's module for Swift leaves out.
  private let lockLimit = __rlimit_resource_t(8)
#endif

struct SecretBytesTests {
  /// Around the sizes of slots, and beyond them.
  private static let sizes = [
    0, 1, 63, 64, 65, 256, 257, 1024, 1025, 4096, 4097, 16_384, 16_385, 1 << 20,
  ]

  @Test(arguments: sizes)
  func `holds what it was given`(size: Int) {
    let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let bytes = SecretBytes(data)
    #expect(bytes.count == size)
    #expect(bytes.withBytes { Data($0) } == data)
    #expect(data.withUnsafeBytes { SecretBytes(copying: $0) } == bytes)
  }

  @Test func `takes text as UTF-8`() {
    #expect(SecretBytes("pass wörd 🔑").withBytes { Array($0) } == Array("pass wörd 🔑".utf8))
    #expect(SecretBytes("").count == 0)
  }

  @Test func `compares by every byte`() {
    let one = SecretBytes(Data(repeating: 7, count: 100))
    #expect(one == SecretBytes(Data(repeating: 7, count: 100)))
    #expect(one != SecretBytes(Data(repeating: 7, count: 99)))
    for index in [0, 50, 99] {
      var data = Data(repeating: 7, count: 100)
      data[index] = 8
      #expect(one != SecretBytes(data))
    }
    #expect(SecretBytes("") == SecretBytes(Data()))
  }

  /// Memory that another secret had is clean, also where the closure that filled it failed.
  @Test(arguments: sizes)
  func `begins with zeros`(size: Int) {
    struct Refusal: Error {}
    for _ in 0..<100 {
      _ = SecretBytes(Data(repeating: 0xAA, count: size))
      #expect(throws: Refusal.self) {
        try SecretBytes(count: size) { bytes throws(Refusal) in
          bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[...]))
          for index in bytes.indices where index % 4096 < 8 { bytes[index] = 0xBB }
          throw Refusal()
        }
      }
      let clean = SecretBytes(count: size) { _ in }
      let isClean = clean.withBytes { bytes in
        stride(from: 0, to: bytes.count, by: 1).allSatisfy { bytes[$0] == 0 }
      }
      #expect(isClean)
      if size > 4096 { break }
    }
  }

  /// More than the shared pages have slots for, from several threads, none in another's place.
  @Test func `gives every secret memory of its own`() throws {
    try inThreads(4) { thread in
      var random = SplitMix(seed: UInt64(thread))
      var held: [(SecretBytes, UInt8)] = []
      for _ in 0..<20_000 {
        let size = Int.random(in: 1...80, using: &random)
        let value = UInt8.random(in: 1...255, using: &random)
        held.append((SecretBytes(Data(repeating: value, count: size)), value))
        guard held.count > 5_000 || Int.random(in: 0..<3, using: &random) == 0 else { continue }
        let index = Int.random(in: held.indices, using: &random)
        held.swapAt(index, held.count - 1)
        let (bytes, expected) = held.removeLast()
        let isWhole = bytes.withBytes { $0.allSatisfy { $0 == expected } }
        if !isWhole { Issue.record("a secret of thread \(thread) was overwritten") }
      }
      for (bytes, expected) in held where !bytes.withBytes({ $0.allSatisfy { $0 == expected } }) {
        Issue.record("a secret of thread \(thread) was overwritten")
      }
    }
  }

  #if os(Linux)
    /// As the kernel tells it: not in core dumps (dd), and locked (lo) where the limit allows.
    @Test(.exitTests, arguments: [10, 2000, 100_000])
    func `is left out of dumps and swap`(size: Int) async {
      // In a process whose limit no other test has used up.
      await #expect(processExitsWith: .success) { [size = size as Int] in
        let bytes = SecretBytes(Data(repeating: 7, count: size))
        let address = bytes.withBytes { UInt(bitPattern: $0.baseAddress) }
        let flags = try #require(MemoryMap.flags(at: address))
        #expect(flags.contains("dd"), "\(flags)")
        #expect(bytes.isLocked)
        #expect(flags.contains("lo"), "\(flags)")
      }
    }

    @Test(.exitTests) func `works where nothing may be locked`() async {
      await #expect(processExitsWith: .success) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #expect(setrlimit(lockLimit, &none) == 0)
        // The superuser may lock all the same.
        if geteuid() == 0 { #expect(setuid(65_534) == 0) }
        for size in [10, 100_000] {
          let bytes = SecretBytes(Data(repeating: 7, count: size))
          #expect(!bytes.isLocked)
          #expect(bytes.withBytes { $0.allSatisfy { $0 == 7 } })
        }
      }
    }
  #endif

  @Test(.exitTests) func `works in the child of a fork`() async {
    await #expect(processExitsWith: .success) {
      let isTaking = Atomic(true)
      // Others are in the middle of taking and giving while the process forks.
      let others = Thread {
        while isTaking.load(ordering: .relaxed) { _ = SecretBytes(Data(repeating: 1, count: 40)) }
      }
      others.start()
      defer { isTaking.store(false, ordering: .relaxed) }
      for _ in 0..<50 {
        let held = SecretBytes("of the parent")
        let child = stead_test_fork()
        if child == 0 {
          alarm(240)
          let isReadable = held == SecretBytes("of the parent")
          // The locks are the parent's.
          let large = SecretBytes(Data(repeating: 2, count: 20_000))
          var all: [SecretBytes] = []
          for _ in 0..<200 { all.append(SecretBytes(Data(repeating: 3, count: 40))) }
          let isWhole = all.allSatisfy { $0.withBytes { $0.allSatisfy { $0 == 3 } } }
          stead_test_exit(isReadable && isWhole && large.count == 20_000 ? 7 : 8)
        }
        #expect(stead_test_wait(child) == 7)
        #expect(held == SecretBytes("of the parent"))
      }
    }
  }

  @Test(.exitTests)
  func `is not locked in the child of a fork until it makes a secret there`() async {
    await #expect(processExitsWith: .success) {
      let held = SecretBytes("of the parent")
      #expect(held.isLocked)
      let child = stead_test_fork()
      if child == 0 {
        let wasLocked = held.isLocked
        let another = SecretBytes("of the child")
        stead_test_exit((wasLocked ? 1 : 0) + (held.isLocked ? 2 : 0) + (another.isLocked ? 4 : 0))
      }
      #expect(stead_test_wait(child) == 6)
    }
  }
}
