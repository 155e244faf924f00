extension Preferences {
  /// How a domain is opened.
  public struct Options: Sendable, Hashable {
    /// Whether writing is disabled; a call that would write fails with `.readOnly`.
    public var isReadOnly = false
    /// The maximum size of the domain's keys and values in bytes; nil for no limit.
    ///
    /// They are counted as they are written into the journal, which takes about as much as a binary property list.
    /// A value that would exceed it is refused with `.quotaExceeded`, and
    /// ``Preferences/sizeLimitExceededNotification`` is posted. Existing values are kept.
    public var quota: Int?
    /// The format of the property list file that is written; all formats can be read.
    ///
    /// The journal next to it is exact in any case: while it exists, dates keep their fraction and `Float`
    /// its type, which XML cannot express.
    public var format = PropertyList.Format.binary

    /// Makes options: by default read and write, without a limit, binary.
    public init(isReadOnly: Bool = false, quota: Int? = nil, format: PropertyList.Format = .binary)
    {
      self.isReadOnly = isReadOnly
      self.quota = quota
      self.format = format
    }
  }
}
