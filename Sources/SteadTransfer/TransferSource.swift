/// The source of a ``Transfer``, such as `.preference("drafts", of: String.self)`.
///
/// Items are removed from a source only after they were written to the destination and read back. Other programs may
/// add items at any time; those are left alone.
///
/// Tables of comma separated values are read row by row, so they may be larger than the memory. All other sources
/// are read as a whole.
public struct TransferSource<Value>: Sendable {
  let items: any ItemSource<Value>

  init(_ items: some ItemSource<Value>) { self.items = items }

  /// Its description in reports and errors: `key drafts of org.example.Notes`.
  public var name: String { items.name }

  /// Whether items that were moved can be removed; a file of another program is left as it is.
  public var isRemovable: Bool { items.isRemovable }
}
