import Foundation

/// How many objects two lists have in common at their beginnings and at their ends.
///
/// A list that is changed object by object is compared each time, so this compares addresses in memory,
/// without a reference to any of the objects.
struct CommonEnds {
  let prefix: Int
  /// Without those that count for the prefix.
  let suffix: Int

  /// How many bytes are compared at once until a difference is found.
  private static let blockSize = 512

  init(of first: [AnyObject], _ second: [AnyObject]) {
    (prefix, suffix) = first.withUnsafeBytes { first in
      second.withUnsafeBytes { second in
        let size = min(first.count, second.count)
        let prefix = Self.prefix(first, second, size)
        return (
          prefix / MemoryLayout<AnyObject>.size,
          Self.suffix(first, second, size - prefix) / MemoryLayout<AnyObject>.size
        )
      }
    }
  }

  private static func prefix(
    _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ size: Int
  ) -> Int {
    guard size > 0, let first = first.baseAddress, let second = second.baseAddress else {
      return 0
    }
    var equal = memcmp(first, second, size) == 0 ? size : 0
    while equal + blockSize < size, memcmp(first + equal, second + equal, blockSize) == 0 {
      equal += blockSize
    }
    while equal < size, word(first + equal) == word(second + equal) {
      equal += MemoryLayout<AnyObject>.size
    }
    return equal
  }

  private static func suffix(
    _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ size: Int
  ) -> Int {
    guard size > 0, let firstStart = first.baseAddress, let secondStart = second.baseAddress
    else { return 0 }
    let (firstEnd, secondEnd) = (firstStart + first.count, secondStart + second.count)
    var equal = memcmp(firstEnd - size, secondEnd - size, size) == 0 ? size : 0
    while equal + blockSize < size {
      let next = equal + blockSize
      guard memcmp(firstEnd - next, secondEnd - next, blockSize) == 0 else { break }
      equal = next
    }
    while equal < size {
      let next = equal + MemoryLayout<AnyObject>.size
      guard word(firstEnd - next) == word(secondEnd - next) else { break }
      equal = next
    }
    return equal
  }

  private static func word(_ address: UnsafeRawPointer) -> UInt { address.load(as: UInt.self) }
}
