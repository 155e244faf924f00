import Foundation

/// Offsets, sizes and limits of the vault file, as Documentation/VaultFile.md draws them.
enum VaultLayout {
  /// The beginning of the file.
  static let magic = Array("SteadVlt".utf8)
  /// The only version so far.
  static let version: UInt32 = 1

  /// Magic and version, which every later format will have at this position.
  static let signatureSize = 12
  /// The part that never changes in the life of a vault: signature and vault id.
  static let prologueSize = 32
  /// The header up to the slots.
  static let fixedSize = 96
  static let digestSize = 32
  static let saltSize = 32
  static let idSize = 16
  static let tagSize = 16
  static let rootKeySize = 32

  static let slotSize = 152
  /// The part of a slot that precedes the sealed root key, and is authenticated with it.
  static let slotFieldsSize = 104

  /// A sealed index is longer than a multiple of this by one tag.
  static let indexStep = 256
  /// A sealed value is longer than a multiple of this by one tag.
  static let valueStep = 64
  /// The digest and the number of items.
  static let indexFieldsSize = 36
  /// An item without its strings.
  static let itemFieldsSize = 60

  /// The largest file.
  static let fileLimit = 64 << 20
  /// The longest sealed index.
  static let indexLimit = 16 << 20
  /// The longest secret.
  static let secretLimit = 16 << 20
  static let itemLimit = 65_536
  static let slotLimit = 16
  /// The longest name of a service, an account or an attribute.
  static let nameLimit = 1024
  /// The longest label, and the longest value of an attribute.
  static let textLimit = 4096
  static let attributeLimit = 64

  static func headerSize(slots: Int) -> Int { fixedSize + slots * slotSize + digestSize }

  /// The length in the file of a secret of a length.
  static func sealedSize(ofSecret length: Int) -> Int {
    max(rounded(length, to: valueStep), valueStep) + tagSize
  }

  static func rounded(_ length: Int, to step: Int) -> Int { (length + step - 1) / step * step }
}

extension Date {
  /// Makes a date from microseconds since 1970.
  init(vaultTime: UInt64) { self.init(timeIntervalSince1970: Double(vaultTime) / 1e6) }

  /// The date in microseconds since 1970; earlier dates count as 1970.
  var vaultTime: UInt64 {
    UInt64(exactly: (max(timeIntervalSince1970, 0) * 1e6).rounded()) ?? 0
  }
}
