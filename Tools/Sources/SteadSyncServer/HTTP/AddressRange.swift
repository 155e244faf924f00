import Foundation

/// An IP address, or all that share its first bits: `10.0.0.0/8`.
public struct AddressRange: Sendable, Equatable {
  private let bytes: [UInt8]
  private let bits: Int

  /// Nil if the string is neither an address nor a range.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let bytes = Self.bytes(String(parts[0])) else { return nil }
    self.bytes = bytes
    if parts.count == 1 {
      bits = bytes.count * 8
    } else {
      guard let bits = Int(parts[1]), (0...bytes.count * 8).contains(bits) else { return nil }
      self.bits = bits
    }
  }

  func contains(_ address: String) -> Bool {
    guard let other = Self.bytes(address), other.count == bytes.count else { return false }
    return (0..<bits).allSatisfy { bit in
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      return bytes[bit / 8] & mask == other[bit / 8] & mask
    }
  }

  /// The four or sixteen bytes of an address. An IPv4 address within IPv6 is an IPv4 address.
  private static func bytes(_ text: String) -> [UInt8]? {
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four, Array.init) }
    var sixteen = in6_addr()
    guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: sixteen, Array.init)
    let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]
    return Array(bytes[..<12]) == mapped ? Array(bytes[12...]) : bytes
  }

  /// The address of a client behind proxies: the last one in `X-Forwarded-For` that isn't a trusted proxy's. The header
  /// counts only if the connection comes from a trusted proxy.
  static func client(of connection: String, forwarded: String?, trusted: [AddressRange]) -> String {
    guard let forwarded, trusted.contains(where: { $0.contains(connection) }) else {
      return connection
    }
    var client = connection
    for part in forwarded.split(separator: ",").reversed() {
      let address = part.trimmingCharacters(in: .whitespaces)
      // An entry that isn't an address was written by an untrusted party.
      guard bytes(address) != nil else { break }
      client = address
      if !trusted.contains(where: { $0.contains(address) }) { break }
    }
    return client
  }
}
