#if !canImport(Darwin)
  public import Foundation

  /// Compares strings by the rules of the user's region; the part of `String.StandardComparator` that Foundation lacks
  /// on Linux.
  ///
  /// ```swift
  /// let byTitle = SortDescriptor(\Book.title, comparator: .localizedStandard)
  /// ```
  ///
  /// A fetch sorts with it in SQL, without an index: a comparison takes some microseconds. The order is that of the
  /// process's locale, so two processes may order differently, and a sorted result is not to be stored.
  public struct LocalizedStringComparator: SortComparator, Codable {
    enum Kind: String, Codable { case localized, localizedStandard }

    let kind: Kind
    /// Whether the order is forward or reversed.
    public var order: SortOrder

    /// A comparator with another order.
    ///
    /// ```swift
    /// let descending = LocalizedStringComparator(.localizedStandard, order: .reverse)
    /// ```
    public init(_ base: LocalizedStringComparator, order: SortOrder) {
      self.init(base.kind, order: order)
    }

    init(_ kind: Kind, order: SortOrder = .forward) {
      self.kind = kind
      self.order = order
    }

    /// How two strings follow each other in the order.
    ///
    /// Reads the locale of the process at each call. Safe on any thread.
    public func compare(_ left: String, _ right: String) -> ComparisonResult {
      let result =
        switch kind {
        case .localized: left.localizedCompare(right)
        case .localizedStandard: left.localizedStandardCompare(right)
        }
      guard order == .reverse else { return result }
      return switch result {
      case .orderedAscending: .orderedDescending
      case .orderedDescending: .orderedAscending
      case .orderedSame: .orderedSame
      }
    }
  }

  extension SortComparator where Self == LocalizedStringComparator {
    /// The order of the user's region.
    public static var localized: LocalizedStringComparator { .init(.localized) }

    /// The order for lists of names and files: by region, with numbers compared as numbers.
    ///
    /// `Chapter 2` comes before `Chapter 10`.
    public static var localizedStandard: LocalizedStringComparator { .init(.localizedStandard) }
  }

  extension String.StandardComparator {
    /// The order of the user's region.
    public static var localized: LocalizedStringComparator { .init(.localized) }

    /// The order for lists of names and files: by region, with numbers compared as numbers.
    public static var localizedStandard: LocalizedStringComparator { .init(.localizedStandard) }
  }

  extension SortDescriptor {
    /// Orders by a string property by the rules of the user's region.
    public init(
      _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStringComparator
    ) {
      self.init(keyPath, comparator: comparator, order: comparator.order)
    }

    /// Orders by an optional string property by the rules of the user's region; nil is first.
    public init(
      _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedStringComparator
    ) {
      self.init(keyPath, comparator: comparator, order: comparator.order)
    }

    /// Orders by a string property by the rules of the user's region.
    public init(
      _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStringComparator,
      order: SortOrder
    ) {
      switch comparator.kind {
      case .localized:
        self.init(Self.sendable(keyPath.appending(path: \.steadLocalized)), order: order)
      case .localizedStandard:
        self.init(Self.sendable(keyPath.appending(path: \.steadLocalizedStandard)), order: order)
      }
    }

    /// Orders by an optional string property by the rules of the user's region; nil is first.
    public init(
      _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedStringComparator,
      order: SortOrder
    ) {
      switch comparator.kind {
      case .localized:
        self.init(Self.sendable(keyPath.appending(path: \.steadLocalized)), order: order)
      case .localizedStandard:
        self.init(Self.sendable(keyPath.appending(path: \.steadLocalizedStandard)), order: order)
      }
    }
  }
#endif
