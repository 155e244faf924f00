/// A digest that distinguishes files in a cache. It doesn't resist an attacker who chooses the files.
struct Digest: CustomStringConvertible {
  // FNV-1a, twice with different initial values: 128 bits make an accidental collision improbable.
  private var one: UInt64 = 0xcbf2_9ce4_8422_2325
  private var other: UInt64 = 0x9ae1_6a3b_2f90_404f

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes {
      one = (one ^ UInt64(byte)) &* 0x100_0000_01b3
      other = (other ^ UInt64(byte) &+ 0x9e37) &* 0x100_0000_01b3
    }
  }

  /// Adds a string and a terminator, so that the strings `ab`, `c` differ from `a`, `bc`.
  mutating func add(_ string: String) {
    var string = string + "\0"
    string.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  var description: String {
    hexadecimal(one) + hexadecimal(other)
  }

  private func hexadecimal(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
