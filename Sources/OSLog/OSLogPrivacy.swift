#if !canImport(Darwin)
  /// Whether a value in a message may be read by whoever reads the log.
  public struct OSLogPrivacy: Hashable, Sendable {
    /// What stands in the place of a value that is hidden.
    public enum Mask: Hashable, Sendable {
      /// A hash, equal for equal values as long as the process runs.
      case hash
      /// Nothing of the value.
      case none
    }

    enum Level { case auto, open, hidden, secret }
    let level: Level
    let mask: Mask

    private init(_ level: Level, mask: Mask) {
      self.level = level
      self.mask = mask
    }

    /// Numbers and truth values are shown, all others are hidden.
    public static let auto = OSLogPrivacy(.auto, mask: .none)
    /// The value is shown.
    public static let `public` = OSLogPrivacy(.open, mask: .none)
    /// The value is hidden, unless `STEAD_LOG_PRIVATE_DATA=1`.
    public static let `private` = OSLogPrivacy(.hidden, mask: .none)
    /// The value is hidden, whatever is set.
    public static let sensitive = OSLogPrivacy(.secret, mask: .none)

    /// As ``auto``, with something else in the place of a hidden value.
    public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(.auto, mask: mask) }
    /// As ``private``, with something else in the place of the value.
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(.hidden, mask: mask) }
    /// As ``sensitive``, with something else in the place of the value.
    public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(.secret, mask: mask) }

    /// What is written for a value.
    func shown(_ text: String, isPlain: Bool, showsPrivateData: Bool) -> String {
      switch level {
      case .open: return text
      case .auto where isPlain || showsPrivateData: return text
      case .hidden where showsPrivateData: return text
      case .auto, .hidden: return masked(text, name: "private")
      case .secret: return masked(text, name: "sensitive")
      }
    }

    private func masked(_ text: String, name: String) -> String {
      guard mask == .hash else { return "<\(name)>" }
      // Hasher's seed is the process's own, so that the hash cannot be looked up in a table.
      var hasher = Hasher()
      hasher.combine(text)
      return "<mask.hash: '\(String(UInt(bitPattern: hasher.finalize()), radix: 36))'>"
    }
  }
#endif
