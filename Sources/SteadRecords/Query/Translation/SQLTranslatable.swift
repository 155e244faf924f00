import Foundation
import Synchronization

/// A node of a predicate that can be translated to SQL.
///
/// The conformances of Foundation's nodes are in Operators, one family of nodes in each file; all of them are listed
/// in ``TranslatedNodes``. This package's own nodes are in Nodes with theirs. To support another node, make it
/// conform and add it to the table: nothing else changes.
///
/// A node that has no SQL throws ``NotTranslatable``. The smallest operand of a `&&` that contains the node, and that
/// may be left out there, is then missing in the SQL, and the whole predicate is also evaluated in memory, on the rows
/// that the SQL returns. Without such an operand these are all rows.
protocol SQLTranslatable: PredicateExpression, SendableMetatype {
  /// The node in SQL.
  ///
  /// - Parameter mode: Whether NULL may stand for false, and whether rows that do not match may be accepted.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term

  /// The node for evaluation in memory, which throws ``Trap`` where this one would trap; nil if nothing in it can trap.
  func checkedNode() -> CheckedExpression<Output>?
}

/// What the user of an expression allows its SQL to return.
enum TranslationMode {
  /// Exactly the value: nil is NULL, and where Swift traps the SQL is NULL as well.
  case exact
  /// A condition: NULL counts as false, as in WHERE.
  case condition
  /// A condition that may accept rows that do not match, if the translation records so with
  /// ``PredicateTranslation/leaveToMemory(_:)``.
  ///
  /// Operators pass this mode on to an operand only if more rows that meet the operand cannot make fewer that meet
  /// the whole: `&&`, `||`, a choice's branches, `contains(where:)`. A negation asks for the exact value.
  ///
  /// A row too many is harmless: each object must then pass the whole predicate in memory. A row too
  /// few would be lost.
  case filter

  /// Whether NULL counts as false.
  var nullIsFalse: Bool { self != .exact }
  /// The mode for an operand whose rows must be exact, while NULL may still count as false.
  var withoutExcess: TranslationMode { self == .filter ? .condition : self }
}

/// Why a part of a predicate has no SQL. It is caught where that part can be left to memory.
///
/// It is no error of the app's: what it excludes is evaluated in memory, at the cost of reading
/// more rows.
struct NotTranslatable: Error {
  /// What has no SQL, for a person who looks for the cause of a slow fetch. It may name types, and
  /// no stored value.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

// MARK: - The nodes

/// The nodes of Foundation that have SQL.
///
/// A linker takes from a static library only the object files that something refers to, and nothing refers to a
/// conformance: `as? any SQLTranslatable` looks it up by name at run time. So a program that links this library
/// through an archive would lose the files in Operators, and evaluate every predicate in memory. This table refers to
/// each conformance. Scripts/check-sources.py and a test compare it with the sources.
enum TranslatedNodes {
  private typealias Node = PredicateExpressions
  private typealias One = PredicateExpressions.Value<Int>
  private typealias Text = PredicateExpressions.Value<String>
  private typealias Yes = PredicateExpressions.Value<Bool>
  private typealias List = PredicateExpressions.Value<[Int]>
  private typealias Table = PredicateExpressions.Value<[Int: Int]>
  private typealias Real = PredicateExpressions.Value<Double>
  private typealias Maybe = PredicateExpressions.Value<Int?>

  /// Each node, with some types as its generic arguments: one conformance serves all of them.
  static let all: [any SQLTranslatable.Type] =
    [
      Node.Value<Int>.self, Node.Variable<Int>.self, Node.KeyPath<Text, Int>.self,
      Node.NilLiteral<Int>.self,
    ] + logic + numbers + collections + types

  /// Logic, comparisons and optionals.
  private static let logic: [any SQLTranslatable.Type] = [
    Node.Conjunction<Yes, Yes>.self, Node.Disjunction<Yes, Yes>.self, Node.Negation<Yes>.self,
    Node.Equal<One, One>.self, Node.NotEqual<One, One>.self, Node.Comparison<One, One>.self,
    Node.Conditional<Yes, One, One>.self, Node.NilCoalesce<Maybe, One>.self,
    Node.ForcedUnwrap<Maybe, Int>.self, Node.OptionalFlatMap<Maybe, Int, One, Int>.self,
  ]

  /// Arithmetic and ranges.
  private static let numbers: [any SQLTranslatable.Type] = [
    Node.Arithmetic<One, One>.self, Node.UnaryMinus<One>.self, Node.IntDivision<One, One>.self,
    Node.IntRemainder<One, One>.self, Node.FloatDivision<Real, Real>.self,
    Node.Range<One, One>.self, Node.ClosedRange<One, One>.self,
    Node.RangeExpressionContains<Node.Value<ClosedRange<Int>>, One>.self,
  ]

  /// Relationships, arrays, dictionaries and strings.
  private static let collections: [any SQLTranslatable.Type] = [
    Node.SequenceContains<List, One>.self, Node.SequenceContainsWhere<List, Yes>.self,
    Node.SequenceAllSatisfy<List, Yes>.self, Node.SequenceStartsWith<List, List>.self,
    Node.SequenceMinimum<List>.self, Node.SequenceMaximum<List>.self,
    Node.Filter<List, Yes>.self, Node.CollectionContainsCollection<Text, Text>.self,
    Node.CollectionIndexSubscript<List, One>.self,
    Node.CollectionRangeSubscript<List, Node.Value<Range<Int>>>.self,
    Node.DictionaryKeySubscript<Table, One, Int>.self,
    Node.DictionaryKeyDefaultValueSubscript<Table, One, One>.self,
    Node.StringContainsRegex<Text, Node.Value<Node.PredicateRegex>>.self,
  ]

  /// Casts, and captured expressions.
  private static let types: [any SQLTranslatable.Type] = [
    Node.TypeCheck<One, Int>.self, Node.ConditionalCast<One, Int>.self,
    Node.ForceCast<One, Int>.self,
    Node.ExpressionEvaluate<Node.Value<Expression<Int, Int>>, One, Int>.self,
  ]

  /// The names of the nodes, without their generic arguments.
  private static let names = Set(all.map { name(of: $0) })

  /// The nodes whose missing conformance was reported already.
  private static let reported = Mutex<Set<String>>([])

  /// The node as one that has SQL; nil if it has none.
  ///
  /// If the table has the node, its conformance was lost by the linker, which is reported once for each node.
  static func translatable<E: PredicateExpression>(_ node: E) -> (any SQLTranslatable)? {
    if let node = node as? any SQLTranslatable { return node }
    // Only for a node without the conformance, which is rare: building the string costs more than
    // translating a node.
    let name = name(of: E.self)
    // Once for each node and process: every fetch with it would report again.
    if names.contains(name), reported.withLock({ $0.insert(name).inserted }) {
      report(name)
    }
    return nil
  }

  /// Reports that predicates with a node are evaluated in memory although the node has SQL.
  private static func report(_ name: String) {
    Report.problem(
      .recordsFailed, subject: name,
      message:
        "Predicates with \(name) are evaluated in memory, which reads every row: this program was linked without the "
        + "part of the library that makes SQL of it. Link the library as SwiftPM does, or its archive as a whole "
        + "(-Wl,--whole-archive), and keep the sections swift5_*.")
  }

  /// The type's qualified name without its generic arguments, by which nodes are compared.
  private static func name(of type: any Any.Type) -> String {
    String(String(reflecting: type).prefix { $0 != "<" })
  }
}
