// For all files of this target.
@_exported import SteadTestSupport

extension SmallDisk {
  /// A disk with room for a store and a few saves.
  convenience init() throws { try self.init(byteCount: 2 << 20) }
}
