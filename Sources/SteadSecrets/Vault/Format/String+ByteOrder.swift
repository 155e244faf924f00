import Foundation

extension String {
  /// Negative when its UTF-8 bytes precede another string's, 0 when they are equal.
  func byteOrder(beside other: String) -> Int {
    let order = utf8.withContiguousStorageIfAvailable { one in
      other.utf8.withContiguousStorageIfAvailable { other in
        let common = min(one.count, other.count)
        guard common > 0, let start = one.baseAddress, let otherStart = other.baseAddress else {
          return one.count - other.count
        }
        let order = memcmp(start, otherStart, common)
        return order != 0 ? Int(order) : one.count - other.count
      }
    }
    if let order = order ?? nil { return order }
    // Strings from Objective-C have no bytes of their own.
    if utf8.elementsEqual(other.utf8) { return 0 }
    return utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
  }
}
