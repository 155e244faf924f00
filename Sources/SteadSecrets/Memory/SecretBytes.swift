import Foundation

/// A secret in memory that is zeroed when the last reference to it goes.
public final class SecretBytes: Sendable {
  /// How many bytes it has.
  public let count: Int
  // Written in the initialiser alone, before anyone else has the object, and freed in deinit.
  private nonisolated(unsafe) let memory: UnsafeMutableRawPointer

  /// Bytes that a closure writes; what it does not write is zero.
  public init<Failure: Error>(
    count: Int, initializingWith body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    self.count = count
    memory = .allocate(byteCount: max(count, 1), alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: max(count, 1))
    try body(UnsafeMutableRawBufferPointer(start: memory, count: count))
  }

  deinit {
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: max(count, 1))
    memory.deallocate()
  }

  /// Calls `body` with the bytes, which must not be used after it returns.
  public func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: memory, count: count))
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
  public convenience init(_ text: String) { self.init(Data(text.utf8)) }
}

extension SecretBytes: Equatable {
  /// Whether two secrets are the same, in a time that depends on their lengths alone.
  public static func == (one: SecretBytes, other: SecretBytes) -> Bool {
    guard one.count == other.count else { return false }
    return one.withBytes { first in
      other.withBytes { second in
        var difference: UInt8 = 0
        for index in 0..<first.count { difference |= first[index] ^ second[index] }
        return difference == 0
      }
    }
  }
}
