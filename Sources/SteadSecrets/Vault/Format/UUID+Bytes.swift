import Foundation

extension UUID {
  /// The first 16 bytes; what is missing counts as zero.
  init(bytes: [UInt8]) {
    var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: bytes.prefix($0.count)) }
    self.init(uuid: id)
  }
}
