import Foundation

/// The file that currently has a name; its contents are read only if its status isn't enough.
package struct FoundFile {
  /// nil when the file does not exist.
  package let status: FileStatus?
  private let read: () throws -> Data

  package init(_ status: FileStatus?, _ read: @escaping () throws -> Data) {
    (self.status, self.read) = (status, read)
  }

  /// No file exists.
  static var none: FoundFile { FoundFile(nil) { Data() } }

  /// The file's contents; empty when it does not exist.
  package func contents() throws -> Data { try read() }
}
