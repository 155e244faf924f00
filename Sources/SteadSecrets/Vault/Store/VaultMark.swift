/// A version of a vault: the generation, and what distinguishes it from another of the same number.
struct VaultMark: Hashable, Sendable {
  static let saltSize = 24

  var generation: UInt64
  var salt: [UInt8]

  init(generation: UInt64, salt: [UInt8]) {
    self.generation = generation
    self.salt = Array(salt.prefix(Self.saltSize))
  }

  /// Whether a file with this mark is older than, or another branch than, one that was seen.
  func isBehind(_ seen: VaultMark) -> Bool {
    generation < seen.generation || (generation == seen.generation && salt != seen.salt)
  }
}

extension VaultHeader {
  var mark: VaultMark { VaultMark(generation: generation, salt: writeSalt) }
}
