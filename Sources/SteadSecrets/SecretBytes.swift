import CSteadSecrets
import Foundation

/// A secret in memory that is kept out of swap and core dumps, and zeroed with the last reference to it.
///
/// ```swift
/// let password = try secrets.bytes(for: "anna@example.org")
/// password?.withBytes { connection.authenticate(with: $0) }
/// ```
///
/// It is compared in constant time, and never copied: a reference is passed on. Small secrets share pages, so
/// creating one costs well under a microsecond; one of more than 16 KiB has pages of its own. The pages stay
/// with the process and are reused.
///
/// Its limits:
/// - Copies of the bytes, as `Data` or `String`, are not protected.
/// - Anyone who can read the process's memory, such as a debugger or root, can read the secret.
/// - Hibernation writes all memory to the disk.
/// - When the process has used up its limit of locked memory (`ulimit -l`), the secret may be swapped; see
///   ``isLocked``.
///
/// The child of a fork has its parent's secrets and can use them; its memory isn't locked until it creates a
/// secret itself.
///
/// Any thread may use it, and several at once: the bytes never change.
public final class SecretBytes: Sendable {
  /// The number of bytes.
  public let count: Int
  // Safe: written only in the initializer, before anyone else has the object; only read from then on; and
  // returned in deinit, when nobody else has it any more.
  private nonisolated(unsafe) let memory: stead_memory

  /// Makes bytes that a closure writes; bytes that it does not write are zero.
  ///
  /// The closure must not keep the pointer. If it throws, what it wrote is zeroed.
  public init<Failure: Error>(
    count: Int, initializingWith body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    self.count = count
    memory = stead_memory_take(count)
    // As the allocation of an object does, this ends the program when no memory is left.
    precondition(memory.bytes != nil, "The system has no memory left for a secret.")
    try body(UnsafeMutableRawBufferPointer(start: memory.bytes, count: count))
  }

  deinit { stead_memory_give(memory, count) }

  /// Whether the memory is currently kept out of swap.
  ///
  /// It isn't when the process has used up its limit (`ulimit -l`), and in the child of a fork.
  public var isLocked: Bool { stead_memory_is_locked(memory) }

  /// Calls `body` with the bytes, which must not be used after it returns.
  public func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: memory.bytes, count: count))
  }
}

extension SecretBytes {
  /// Copies bytes.
  public convenience init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
  }

  /// Copies data, whose own memory isn't zeroed.
  public convenience init(_ data: Data) {
    self.init(count: data.count) { target in
      data.withUnsafeBytes { target.copyMemory(from: $0) }
    }
  }

  /// Copies a string's UTF-8; the string's own memory isn't zeroed.
  public convenience init(_ text: String) {
    var text = text
    self.init(count: text.utf8.count) { target in
      text.withUTF8 { target.copyMemory(from: UnsafeRawBufferPointer($0)) }
    }
  }
}

extension SecretBytes: Equatable {
  /// Whether two secrets are equal, in a time that depends only on their lengths.
  public static func == (one: SecretBytes, other: SecretBytes) -> Bool {
    // The length is no secret, and `stead_equal` looks at every byte, so the time tells nothing of where they differ.
    one.count == other.count && stead_equal(one.memory.bytes, other.memory.bytes, one.count)
  }
}

extension Data {
  /// Zeroes the bytes in place, which is useful only while nobody else has a copy.
  package mutating func wipe() {
    withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      stead_wipe(start, bytes.count)
    }
  }
}

// MARK: - Content

/// Content that can be stored as a secret: strings, as UTF-8, and bytes.
///
/// For other values, see ``Secrets/setValue(_:for:label:attributes:requirements:)`` and
/// ``SecretBytes/init(encoding:)``.
///
/// ``SecretBytes`` alone is zeroed when it is released; the memory of a string, of `Data` or of an array is not.
public protocol SecretContent {
  /// A copy of the bytes to store.
  var secretBytes: SecretBytes { get }
}

extension SecretBytes: SecretContent {
  /// The object itself.
  public var secretBytes: SecretBytes { self }
}

extension Data: SecretContent {
  /// A copy; this data's own memory isn't zeroed.
  public var secretBytes: SecretBytes { SecretBytes(self) }
}

extension String: SecretContent {
  /// The string as UTF-8; the string's own memory isn't zeroed.
  public var secretBytes: SecretBytes { SecretBytes(self) }
}

extension [UInt8]: SecretContent {
  /// A copy; this array's own memory isn't zeroed.
  public var secretBytes: SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }
}

// MARK: - Random bytes

extension SecretBytes {
  /// Unpredictable bytes from the system.
  static func random(count: Int) -> SecretBytes {
    SecretBytes(count: count) { $0.fillWithRandom() }
  }
}

extension UnsafeMutableRawBufferPointer {
  fileprivate func fillWithRandom() {
    var generator = SystemRandomNumberGenerator()
    // Each number costs a system call, so all of its bytes are used.
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
