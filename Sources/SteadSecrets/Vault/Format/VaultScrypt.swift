/// The cost of trying a passphrase, as the parameters of scrypt (RFC 7914).
public struct VaultScrypt: Hashable, Sendable {
  /// The largest ``logN``.
  public static let logNLimit = 22
  /// The largest ``r``.
  public static let rLimit = 16
  /// The largest ``p``.
  public static let pLimit = 16
  /// The largest N times r: 512 MiB of memory.
  public static let memoryLimit = 1 << 22
  /// The largest N times r times p: about 4 seconds.
  public static let workLimit = 1 << 24
  /// The largest sum of N times r times p over the passphrases of a vault, which are tried in turn.
  public static let totalWorkLimit = 1 << 25

  /// The binary logarithm of the number of rounds.
  public let logN: Int
  /// The size of a block, in 128 bytes.
  public let r: Int
  /// The number of repetitions.
  public let p: Int

  /// N 2^17, r 8, p 1: 128 MiB and about a quarter of a second for each attempt.
  public static let standard = VaultScrypt(unchecked: 17, 8, 1)

  private init(unchecked logN: Int, _ r: Int, _ p: Int) {
    (self.logN, self.r, self.p) = (logN, r, p)
  }

  /// Makes a cost; nil if it is beyond the limits, or invalid for scrypt.
  ///
  /// Less than ``standard`` is for tests and for passphrases that a machine generated at random.
  public init?(logN: Int, r: Int, p: Int) {
    // The single limits first: with them the products below fit into an integer. N < 2^(16 r) is
    // scrypt's own rule (RFC 7914, 2).
    guard (1...Self.logNLimit).contains(logN), (1...Self.rLimit).contains(r),
      (1...Self.pLimit).contains(p), logN < 16 * r, r << logN <= Self.memoryLimit,
      (r * p) << logN <= Self.workLimit
    else { return nil }
    self.init(unchecked: logN, r, p)
  }

  /// N times r times p.
  var work: Int { (r * p) << logN }
}
