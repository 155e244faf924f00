import CSteadSecrets
import Foundation

/// A secret in memory that is kept out of swap and core dumps, and zeroed when the last reference to it
/// goes.
///
/// Small secrets share pages, so making one costs well under a microsecond; one of more than 16 KiB has
/// pages of its own. The pages stay with the process and are used again.
///
/// What it cannot do: a copy of the bytes, as `Data` or `String`, is the copier's own. Whoever may read
/// the memory of the process, such as a debugger or the superuser, can read the secret. The child of a
/// fork has the secrets of its parent and can use them; its memory is not locked until it makes a secret
/// in it. A machine that hibernates writes all memory to the disk.
public final class SecretBytes: Sendable {
  /// How many bytes it has.
  public let count: Int
  // Written in the initializer alone, before anyone else has the object, and given back in deinit.
  private nonisolated(unsafe) let memory: stead_memory

  /// Bytes that a closure writes; what it does not write is zero.
  ///
  /// The closure must not keep the pointer. If it throws, what it wrote is zeroed.
  public init<Failure: Error>(
    count: Int, initializingWith body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    self.count = count
    memory = stead_memory_take(count)
    // Memory that the system does not have ends the program here, as it does for every object.
    precondition(memory.bytes != nil, "The system has no memory for a secret.")
    try body(UnsafeMutableRawBufferPointer(start: memory.bytes, count: count))
  }

  deinit { stead_memory_give(memory, count) }

  /// Whether the memory is kept out of swap now.
  ///
  /// It is not when the process has used up its limit (`ulimit -l`), and in the child of a fork.
  public var isLocked: Bool { stead_memory_is_locked(memory) }

  /// Calls `body` with the bytes, which must not be used after it returns.
  public func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: memory.bytes, count: count))
  }
}

extension SecretBytes {
  /// A copy of bytes that somebody else has.
  public convenience init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
  }

  /// A copy of data, whose own memory is not zeroed.
  public convenience init(_ data: Data) {
    self.init(count: data.count) { target in
      data.withUnsafeBytes { target.copyMemory(from: $0) }
    }
  }

  /// A copy of a text's UTF-8, whose own memory is not zeroed.
  public convenience init(_ text: String) {
    var text = text
    self.init(count: text.utf8.count) { target in
      text.withUTF8 { target.copyMemory(from: UnsafeRawBufferPointer($0)) }
    }
  }
}

extension SecretBytes: Equatable {
  /// Whether two secrets are the same, in a time that depends on their lengths alone.
  public static func == (one: SecretBytes, other: SecretBytes) -> Bool {
    one.count == other.count && stead_equal(one.memory.bytes, other.memory.bytes, one.count)
  }
}

extension Data {
  /// Zeroes the bytes where they are, which is of use only while nobody else has a copy.
  package mutating func wipe() {
    withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      stead_wipe(start, bytes.count)
    }
  }
}
