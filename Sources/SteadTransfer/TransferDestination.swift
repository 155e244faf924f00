/// The destination of a ``Transfer``, such as `.records(container)`.
///
/// ```swift
/// Transfer("drafts", from: .preference("draft_posts", of: String.self), to: .records(container)) { text in
///   Draft(content: text)
/// }
/// ```
///
/// A destination replaces nothing unless ``TransferOptions/conflicts`` allows it: an item whose place is taken causes
/// ``TransferError/Code/conflict``. It keeps a receipt next to the items, with about 40 bytes for each item that was
/// ever moved.
public struct TransferDestination<Element>: Sendable {
  let items: any ItemDestination<Element>

  init(_ items: some ItemDestination<Element>) { self.items = items }

  /// Its description in reports and errors: `records of Draft`.
  public var name: String { items.name }
}
