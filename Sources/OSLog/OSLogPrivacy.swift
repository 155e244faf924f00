#if !canImport(Darwin)
  /// Whether readers of the log can see a value in a message.
  public struct OSLogPrivacy: Hashable, Sendable {
    /// What replaces a hidden value.
    public enum Mask: Hashable, Sendable {
      /// A hash, the same for equal values as long as the process runs.
      case hash
      /// Nothing about the value.
      case none
    }

    enum Level { case auto, open, hidden, secret }
    let level: Level
    let mask: Mask

    private init(_ level: Level, mask: Mask) {
      self.level = level
      self.mask = mask
    }

    /// Numbers and booleans are shown, other values are hidden.
    public static let auto = OSLogPrivacy(.auto, mask: .none)
    /// The value is shown.
    public static let `public` = OSLogPrivacy(.open, mask: .none)
    /// The value is hidden, unless `STEAD_LOG_PRIVATE_DATA=1`.
    public static let `private` = OSLogPrivacy(.hidden, mask: .none)
    /// The value is hidden, regardless of any setting.
    public static let sensitive = OSLogPrivacy(.secret, mask: .none)

    /// As ``auto``, with a mask that replaces a hidden value.
    public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(.auto, mask: mask) }
    /// As ``private``, with a mask that replaces the value.
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(.hidden, mask: mask) }
    /// As ``sensitive``, with a mask that replaces the value.
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
      // Hasher's seed is unique to the process, so the hash cannot be looked up in a table.
      var hasher = Hasher()
      hasher.combine(text)
      return "<mask.hash: '\(String(UInt(bitPattern: hasher.finalize()), radix: 36))'>"
    }
  }
#endif
