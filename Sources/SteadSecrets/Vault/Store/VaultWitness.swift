import Crypto
import Foundation
import SteadFiles

/// A small file apart from the vault that remembers the vault's highest generation.
///
/// It is optional: the vault also works if the witness cannot be written.
struct VaultWitness: Sendable {
  private static let recordSize = 64
  private static let macSize = 32
  private static let lockLimit = Duration.milliseconds(100)

  private let path: String?
  private let home: HomeDirectory?
  private let key: SecretBytes

  init(of vaultID: [UInt8], root: VaultRoot, environment: [String: String]) {
    let directories = try? AppDirectories(id: "stead", environment: environment)
    home = directories?.home
    path = try? directories?.state.appending(path: "vaults/\(vaultID.hexadecimal)").checkedPath
    key = root.witnessKey(vaultID).withUnsafeBytes { SecretBytes(copying: $0) }
  }

  /// The highest mark that was noted; nil if none, or none that is authentic.
  func mark() -> VaultMark? {
    guard let path, let file = try? OpenFile(readingIfPresent: path),
      let data = try? file.data(limit: 2 * Self.recordSize)
    else { return nil }
    return [data.prefix(Self.recordSize), data.dropFirst(Self.recordSize)]
      .compactMap(mark(in:))
      .max { $0.generation < $1.generation }
  }

  /// Notes a mark, unless a higher one exists.
  func raise(to mark: VaultMark) {
    guard let path else { return }
    let disk = POSIXDisk()
    do {
      try disk.makeDirectories(path.directoryPath, outside: home)
      // Readers raise it, too, so the vault's lock would not do. The holder either raises it or has been
      // stopped: no reader waits for that.
      try FileLock(URL(filePath: path)).hold(for: Self.lockLimit) {
        if let noted = self.mark(), noted.generation >= mark.generation { return }
        let record = record(of: mark)
        try disk.withDescriptor(path, O_RDWR | O_NOFOLLOW) { descriptor in
          let offset = off_t(mark.generation % 2) * off_t(Self.recordSize)
          let count = record.withUnsafeBytes {
            pwrite(descriptor, $0.baseAddress, $0.count, offset)
          }
          guard count == record.count else {
            // A write that is cut short has no number; the disk is full then.
            throw FileError(
              errno: count < 0 ? errno : ENOSPC, doing: "write to the file", path: path)
          }
        }
      }
      VaultNotices.noteSuccess(at: path)
    } catch {
      // Most likely the program that has the lock has noted it.
      if let noted = self.mark(), noted.generation >= mark.generation { return }
      // Without a witness, a roll-back is noticed only within the process, as documented.
      VaultNotices.note(
        error, at: path, lack: "An older copy of the vault that somebody puts back may go unnoticed"
      )
    }
  }

  private var symmetricKey: SymmetricKey { key.withBytes { SymmetricKey(data: $0) } }

  private func record(of mark: VaultMark) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.recordSize) { memory, count in
      var writer = VaultWriter(UnsafeMutableRawBufferPointer(memory))
      writer.put(mark.generation)
      writer.put(mark.salt)
      let fields = UnsafeRawBufferPointer(memory)[..<writer.offset]
      let code = HMAC<Crypto.SHA256>.authenticationCode(
        for: UnsafeRawBufferPointer(rebasing: fields), using: symmetricKey)
      writer.put(Array(code))
      count = writer.offset
    }
  }

  private func mark(in record: Data) -> VaultMark? {
    guard record.count == Self.recordSize,
      HMAC<Crypto.SHA256>.isValidAuthenticationCode(
        record.suffix(Self.macSize), authenticating: record.dropLast(Self.macSize),
        using: symmetricKey)
    else { return nil }
    return record.withUnsafeBytes { bytes in
      var reader = VaultReader(bytes)
      guard let generation = try? reader.number(UInt64.self),
        let salt = try? reader.array(VaultMark.saltSize)
      else { return nil }
      return VaultMark(generation: generation, salt: salt)
    }
  }
}
