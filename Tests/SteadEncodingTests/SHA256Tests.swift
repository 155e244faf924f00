import CSteadEncoding
import Foundation
import Testing

@testable import SteadEncoding

@Suite struct SHA256Tests {
  /// The examples of FIPS 180-4 and of NIST's page on it.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func `digests the standard's examples`(text: String, digest: String) {
    #expect(SHA256.hexadecimal(Data(text.utf8)) == digest)
  }

  @Test func `digests a million letters`() {
    #expect(
      SHA256.hexadecimal(Data(repeating: UInt8(ascii: "a"), count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  /// Every length around the ends of blocks, where the padding is decided; the digests are folded into
  /// one, which another implementation has computed.
  @Test func `digests every length of three blocks`() {
    var folded = Data()
    for count in 0...192 {
      folded = Data(SHA256.digest(of: folded + Data((0..<count).map { UInt8($0) })))
    }
    #expect(
      folded.map { String(format: "%02x", $0) }.joined()
        == "0b8b36754a8418bb04daa911828d44a416351b8c4d2d8451ca39e110ff527759")
  }

  /// The processor here may have instructions for it, and that of a user none.
  @Test(arguments: [0, 1, 63, 64, 65, 1_000, 100_003])
  func `digests alike without the processor's instructions`(count: Int) {
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) })
    #expect(SHA256.digest(of: data, by: stead_sha256_blocks_portable) == SHA256.digest(of: data))
  }

  @Test func `digests a part of larger data`() {
    let whole = Data("xxabcxx".utf8)
    #expect(SHA256.hexadecimal(whole[2..<5]) == SHA256.hexadecimal(Data("abc".utf8)))
  }

  /// Vectors of FIPS 180-4, and around the length of a block.
  @Test(
    arguments: [
      ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      ("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
      ("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
      ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
  func `SHA-256 is what the standard says`(piece: String, count: Int, digest: String) {
    #expect(SHA256.hexadecimal(String(repeating: piece, count: count).utf8) == digest)
  }

  /// A collection without contiguous storage is copied first.
  @Test func `digests bytes that are not contiguous`() {
    let bytes = (0..<200).lazy.map { UInt8($0) }
    #expect(SHA256.hexadecimal(bytes) == SHA256.hexadecimal(Array(bytes)))
    #expect(SHA256.hexadecimal(bytes, byteCount: 4).utf8.count == 8)
  }
}
