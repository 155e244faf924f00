import Foundation
import SteadFiles

/// A small file apart from the vault that remembers which vault is at a path.
///
/// One key may open several vaults, so the key alone does not reveal whether another of them has replaced it.
/// As with the witness, a vault works without a writable pin.
struct VaultPin: Sendable {
  private static let size = 2 * VaultLayout.idSize + 1

  private let path: String?
  private let home: HomeDirectory?

  /// - Parameter vault: The path of the vault itself, with links followed.
  init(vault: String, environment: [String: String]) {
    let directories = try? AppDirectories(id: "stead", environment: environment)
    home = directories?.home
    let name = SHA256.hexadecimal(Data(vault.utf8))
    path = try? directories?.state.appending(path: "vault-paths/\(name)").checkedPath
  }

  /// The identity of the vault that was last at the path; nil when none is remembered.
  func id() -> [UInt8]? {
    guard let path, let file = try? OpenFile(readingIfPresent: path),
      let text = try? file.data(limit: Self.size), text.count == Self.size, text.last == 10
    else { return nil }
    return [UInt8](hexadecimal: text.dropLast())
  }

  /// Remembers a vault, replacing the one that was there before.
  func note(_ id: [UInt8]) {
    guard let path, self.id() != id else { return }
    do {
      try POSIXDisk().makeDirectories(path.directoryPath, outside: home)
      try AtomicFile(URL(filePath: path)).replace(
        with: Data((id.hexadecimal + "\n").utf8), permissions: .ownerOnly)
      VaultNotices.noteSuccess(at: path)
    } catch {
      // Without it, another vault is noticed only within the process, as documented.
      VaultNotices.note(
        error, at: path,
        lack: "A vault that disappears, or that another one replaces, may go unnoticed")
    }
  }
}

extension [UInt8] {
  /// Two lower-case digits for each byte.
  var hexadecimal: String {
    map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// The bytes that such digits encode; nil for anything else.
  fileprivate init?(hexadecimal digits: Data) {
    var bytes: [UInt8] = []
    var rest = digits[...]
    while let high = rest.popFirst() {
      guard let low = rest.popFirst(),
        let byte = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    self = bytes
  }
}
