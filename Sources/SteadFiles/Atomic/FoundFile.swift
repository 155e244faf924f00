import Foundation

/// The file that has a name, which is read only where its status does not tell enough.
package struct FoundFile {
  /// nil when there is no file.
  package let status: FileStatus?
  private let read: () throws -> Data

  package init(_ status: FileStatus?, _ read: @escaping () throws -> Data) {
    (self.status, self.read) = (status, read)
  }

  /// No file.
  static var none: FoundFile { FoundFile(nil) { Data() } }

  /// What is in the file; empty when there is none.
  package func contents() throws -> Data { try read() }
}
