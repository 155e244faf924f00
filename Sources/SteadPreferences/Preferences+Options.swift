extension Preferences {
  /// How a domain is opened.
  public struct Options: Sendable, Hashable {
    /// The format of the property list file; reading takes any of them.
    public enum Format: Sendable, Hashable {
      /// Binary, the smaller and faster.
      case binary
      /// XML, for files that people read or keep in version control.
      case xml
    }

    /// Whether nothing may be written; a call that would is refused with `.readOnly`.
    public var isReadOnly = false
    /// The most bytes that the domain's property list may have, nil for no limit.
    ///
    /// A value that would exceed it is refused with `.quotaExceeded`, and
    /// ``Preferences/sizeLimitExceededNotification`` is posted. What is there is kept.
    public var quota: Int?
    /// The format of the property list file.
    public var format = Format.binary

    /// Options: by default read and write, without limit, binary.
    public init(isReadOnly: Bool = false, quota: Int? = nil, format: Format = .binary) {
      self.isReadOnly = isReadOnly
      self.quota = quota
      self.format = format
    }
  }
}
