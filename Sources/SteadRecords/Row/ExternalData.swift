/// Data of a property with external storage, read from its file when it is first asked for.
final class ExternalData: Sendable {
  /// The size in bytes from which data is kept in a separate file.
  static let fileThreshold = 128 * 1024

  let reference: String
  let blobs: BlobFiles

  init(reference: String, blobs: BlobFiles) {
    self.reference = reference
    self.blobs = blobs
    blobs.uses.hold(reference)
  }

  deinit { blobs.uses.release(reference) }
}
