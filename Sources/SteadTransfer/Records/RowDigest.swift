import Foundation
import SteadFiles
import SteadRecords
import SteadSQLite

/// Collects what a row holds, for a digest that is the same wherever the row is read.
///
/// Each name and value has its kind and its length in front, so that no two contents give the same
/// bytes.
struct RowDigest {
  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(256) }

  mutating func add(_ name: String, _ value: SQLValue) {
    add(text: name)
    add(value)
  }

  mutating func add(text: String) {
    var text = text
    text.withUTF8 { add(3, $0) }
  }

  mutating func add(_ value: SQLValue) {
    switch value {
    case .null: bytes.append(0)
    case .integer(let number): add(1, number: UInt64(bitPattern: number))
    // SQLite keeps the negative zero as zero.
    case .real(let number): add(2, number: (number == 0 ? 0 : number).bitPattern)
    case .text(let text): add(text: text)
    case .blob(let data): data.withUnsafeBytes { add(4, $0.bindMemory(to: UInt8.self)) }
    }
  }

  private mutating func add(_ kind: UInt8, number: UInt64) {
    bytes.append(kind)
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func add(_ kind: UInt8, _ content: UnsafeBufferPointer<UInt8>) {
    add(kind, number: UInt64(content.count))
    bytes.append(contentsOf: content)
  }

  /// The digest of all that was added.
  var text: String { ItemDigest.text(of: Data(bytes)) }
}
