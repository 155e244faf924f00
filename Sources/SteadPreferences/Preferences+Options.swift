extension Preferences {
  /// How a domain is opened.
  public struct Options: Sendable, Hashable {
    /// Whether nothing may be written; a call that would is refused with `.readOnly`.
    public var isReadOnly = false
    /// The most bytes that the domain's property list may have, nil for no limit.
    ///
    /// A value that would exceed it is refused with `.quotaExceeded`, and
    /// ``Preferences/sizeLimitExceededNotification`` is posted. What is there is kept.
    public var quota: Int?
    /// The format of the property list file that is written; all formats are read.
    ///
    /// The journal beside it is exact in any case; of what XML cannot say, dates keep their fraction
    /// and `Float` its kind as long as the journal is there.
    public var format = PropertyList.Format.binary

    /// Options: by default read and write, without limit, binary.
    public init(isReadOnly: Bool = false, quota: Int? = nil, format: PropertyList.Format = .binary)
    {
      self.isReadOnly = isReadOnly
      self.quota = quota
      self.format = format
    }
  }
}
