/// Where a ``Transfer`` moves items from, such as `.preference("drafts", of: String.self)`.
///
/// Items are removed from a source only after they were written elsewhere and read back from there. Others may add to it
/// at any time; what they add is left alone.
///
/// Tables of comma separated values are read row by row, so they may be larger than the memory. All other sources
/// are read as a whole.
public struct TransferSource<Value>: Sendable {
  let items: any ItemSource<Value>

  init(_ items: some ItemSource<Value>) { self.items = items }

  /// What it is, for reports and errors: `key drafts of org.example.Notes`.
  public var name: String { items.name }

  /// Whether items that were moved can be removed; a file of another program is left as it is.
  public var isRemovable: Bool { items.isRemovable }
}
