import Foundation
import SteadFiles
import SteadRecords
import SteadSQLite

/// The files with a store's large values, in `.NAME_SUPPORT/_EXTERNAL_DATA` next to the store.
struct CoreDataFiles {
  /// The maximum size of a file, in bytes: SQLite's own limit.
  static let sizeLimit = 1_000_000_000
  /// The maximum length of a file's name, in bytes.
  static let nameLimit = 255

  /// Why a file can't be read. It has no stored value.
  enum Problem: Error {
    case noName, missing, notAFile, tooLarge
  }

  /// The directory of the files, which need not exist.
  private let directory: String
  private let disk = POSIXDisk()

  /// - Parameter path: The path of the store itself, not of its copy.
  init(besides path: String) {
    let store = URL(filePath: path, directoryHint: .notDirectory)
    let name = store.deletingPathExtension().lastPathComponent
    directory = path.directoryPath + "/.\(name)_SUPPORT/_EXTERNAL_DATA"
  }

  /// Whether the store has a directory for such files.
  var exist: Bool { (try? disk.status(at: directory))??.kind == .directory }

  /// The file's name in the bytes after the marker; nil if they aren't one.
  ///
  /// Only letters, digits, `-`, `_` and `.` are allowed, so that a crafted store can't refer to a
  /// file outside of the directory.
  static func name(_ bytes: Data) -> String? {
    var bytes = bytes[...]
    // The name is a C string.
    while bytes.last == 0 { bytes.removeLast() }
    // A leading dot is refused, and with it `..`.
    guard !bytes.isEmpty, bytes.count <= nameLimit, bytes.first != UInt8(ascii: "."),
      bytes.allSatisfy(isPartOfName)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a byte may be in a name.
  private static func isPartOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: "."):
      true
    default: false
    }
  }

  /// Whether a file exists.
  func has(_ name: String) -> Bool {
    (try? disk.status(at: directory + "/" + name))??.kind == .file
  }

  /// The contents of a file. Symbolic links are not followed.
  func read(_ bytes: Data) throws -> Data {
    guard let name = Self.name(bytes) else { throw Problem.noName }
    let path = directory + "/" + name
    // `status` doesn't follow links: a crafted store could name a link to any file of the user.
    guard let status = try disk.status(at: path) else { throw Problem.missing }
    guard status.kind == .file else { throw Problem.notAFile }
    guard status.size <= Self.sizeLimit else { throw Problem.tooLarge }
    // Without following a link here, too: the file may have been replaced since its status was
    // read.
    return try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) { descriptor in
      var data = Data(count: Int(status.size))
      var count = 0
      try data.withUnsafeMutableBytes { buffer in
        while count < buffer.count {
          let part = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
          let read = try disk.read(descriptor, into: part, path: path)
          if read == 0 { break }
          count += read
        }
      }
      // The file became shorter while it was read.
      guard count == data.count else { throw Problem.missing }
      return data
    }
  }
}

extension CoreDataFiles.Problem {
  /// The predicate of a sentence about an attribute.
  var reason: String {
    switch self {
    case .noName: "refers to a file by something that isn't a file's name"
    case .missing: "refers to a file that is not beside the store; put the store's directory back"
    case .notAFile: "refers to something that is no file"
    case .tooLarge:
      "refers to a file of more than \(CoreDataFiles.sizeLimit) bytes, which is not taken in"
    }
  }
}

// MARK: - Which attributes have the marker

/// Detects which attributes have the marker of external storage before their data.
///
/// If an attribute allows external storage, each of its values begins with a marker: 1 if the data
/// follows, 2 if the name of a file does. The tables don't show which attributes these are. So the
/// marker is detected if all values begin with 1 or 2, and there is more evidence: the new property
/// allows external storage and the store has files, or a value names an existing file. Without more
/// evidence the data may begin so by chance, and the mapping must decide: a wrong guess would cut
/// off a byte or add one.
struct ExternalStorageDetector {
  /// The copy of the store.
  let store: ForeignStore
  /// The files next to the original.
  let files: CoreDataFiles
  /// What the caller says about external storage.
  let mapping: CoreDataMapping

  /// A plan with the detected forms of its attributes.
  func withForms(_ plan: CoreDataClassPlan) throws -> CoreDataClassPlan {
    var plan = plan
    for index in plan.attributes.indices {
      if try isMarked(plan.attributes[index], plan) { plan.attributes[index].form = .marked }
    }
    return plan
  }

  /// Whether an attribute's values have the marker.
  private func isMarked(
    _ attribute: CoreDataClassPlan.Attribute, _ plan: CoreDataClassPlan
  ) throws -> Bool {
    if let configured = mapping.externalStorage[plan.className]?[attribute.name] {
      return configured
    }
    let column = attribute.column.sqlName
    let source = "FROM \(plan.entity.table.sqlName) WHERE \(column) IS NOT NULL"
    let first = try store.rows(
      "SELECT count(*), ifnull(sum(typeof(\(column)) = 'blob' "
        + "AND substr(\(column), 1, 1) IN (x'01', x'02')), 0) \(source)")
    // One value without a marker proves that the attribute doesn't have it.
    guard let count = first.first?[0].integer, count > 0, first.first?[1].integer == count else {
      return false
    }
    switch attribute.encoding {
    // The new property allows it, and the store has such files.
    case .external where files.exist: return true
    case .external, .data, .opaque: break
    // Nothing else begins with such a byte: neither an archive, a property list nor JSON.
    default: return try namesFile(column, source)
    }
    guard try namesFile(column, source) else {
      throw TransferError(
        code: .unsupported,
        message:
          "All values of \(plan.className).\(attribute.name) begin as those of an attribute with "
          + "external storage do, and may do so by chance. Say in externalStorage of the mapping "
          + "whether it allows that. Nothing was written.")
    }
    return true
  }

  /// Whether a value has the name of an existing file.
  private func namesFile(_ column: String, _ source: String) throws -> Bool {
    guard files.exist else { return false }
    // A name is short, so longer values needn't be read.
    let names = try store.rows(
      "SELECT substr(\(column), 2) \(source) AND substr(\(column), 1, 1) = x'02' "
        + "AND length(\(column)) <= \(CoreDataFiles.nameLimit + 2)")
    return names.contains { row in
      guard case .blob(let data) = row[0], let name = CoreDataFiles.name(data) else { return false }
      return files.has(name)
    }
  }
}
