/// Whether the SQL of a term can be NULL, and what that stands for.
enum Nullability {
  case never
  /// NULL is nil.
  case optional
  /// NULL means no value: Swift throws or traps there. It spreads through every operator, so that the row matches
  /// neither a condition nor its negation.
  case undefined

  var mayBeNull: Bool { self != .never }

  static func either(_ left: Nullability, _ right: Nullability) -> Nullability {
    left == .never && right == .never ? .never : .undefined
  }
}

/// The variables by which a term is NULL when they are.
///
/// Bit n stands for the n-th variable that an optional chain has bound; past 64 a chain is only
/// translated less tightly.
typealias StrictVariables = UInt64
