import Foundation
import SteadTestSupport
import SwiftData

@testable import SteadRecords

/// A node that hides its type, so that random predicates are made of few types.
struct Erased<Output>: StandardPredicateExpression, SQLTranslatable {
  let base: any StandardPredicateExpression<Output>
  let text: String

  init(_ text: String, _ base: any StandardPredicateExpression<Output>) {
    self.base = base
    self.text = text
  }

  struct NotCodable: Error {}

  init(from decoder: any Decoder) throws { throw NotCodable() }
  func encode(to encoder: any Encoder) throws { throw NotCodable() }

  func evaluate(_ bindings: PredicateBindings) throws -> Output { try base.evaluate(bindings) }

  func checkedNode() -> CheckedExpression<Output>? { base.checked() }

  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    guard let base = base as? any SQLTranslatable else { throw NotTranslatable(text) }
    return try base.term(in: translation, mode)
  }
}

/// Values that are hard to get right.
enum Hard {
  static let texts = [
    "", "a", "A", "ab", "Ab", "e\u{301}", "\u{E9}", "E\u{301}", "K", "\u{212A}", ";", "\u{37E}",
    "`", "straße", "STRASSE", "\r\n", "\n", "a\r\nb", "👨‍👩‍👧", "👨", "ﬁ", "fi", "İ", "i\u{307}",
    "한", "\u{1112}\u{1161}\u{11AB}", "a\u{0}b", "\u{0}", "a\u{0}", "\u{0}\u{301}", "\\u0000", "ß",
    "ı", "ﬃ",
    "A\u{0}B", "%_'\"\\", "z", "Zoë", "zoe\u{308}", "e", "KK;`",
  ]
  static let integers = [0, 1, -1, 2, 3, 7, -7, .max, .min, 1 << 53, 41]
  // SQLite keeps no sign of zero.
  static let reals: [Double] = [
    0, 1.5, 0.1, 0.1 + 0.2, -1e300, .infinity, -.infinity, .nan, Double.leastNonzeroMagnitude, 2,
    -2,
    .greatestFiniteMagnitude,
  ]
  static let finite: [Double] = [
    0, 0.1, 0.1 + 0.2, -3.25, 1e-7, 123456.789, Double.leastNonzeroMagnitude,
  ]
}

typealias Nodes = _PredicateNodes

/// Makes random expressions over one variable.
struct RandomExpression {
  var random: SplitMix
  let sample: PredicateExpressions.Variable<Sample>
  /// What predicates capture: identifiers of all kinds.
  var identifiers: [PersistentIdentifier] = []

  mutating func pick<T>(_ values: [T]) -> T { values[Int(random.next() % UInt64(values.count))] }

  mutating func chance(_ one: UInt64, in all: UInt64) -> Bool { random.next() % all < one }

  // MARK: Values

  mutating func integer(_ depth: Int) -> Erased<Int> {
    let small = pick([-3, -1, 1, 2, 3])
    switch Int(random.next() % (depth > 0 ? 13 : 2)) {
    case 0: return Erased("number", Nodes.keyPath(sample, \.number))
    case 1: return Erased("\(small)", Nodes.value(small))
    case 2:
      return Erased(
        "number + \(small)", Nodes.arithmetic(Nodes.keyPath(sample, \.number), value: small, .add))
    case 3:
      return Erased(
        "number * \(small)",
        Nodes.arithmetic(Nodes.keyPath(sample, \.number), value: small, .multiply))
    case 4:
      return Erased(
        "number / \(small)", Nodes.quotient(Nodes.keyPath(sample, \.number), value: small))
    case 5:
      return Erased(
        "number % \(small)", Nodes.remainder(Nodes.keyPath(sample, \.number), value: small))
    case 6:
      let text = text(depth - 1)
      return Erased("\(text.text).count", Nodes.keyPath(text, \.count))
    case 7:
      let (left, right) = (optionalInteger(depth - 1), integer(depth - 1))
      return Erased("(\(left.text) ?? \(right.text))", Nodes.coalesce(left, right))
    case 8:
      let (test, yes, no) = (condition(depth - 1), integer(depth - 1), integer(depth - 1))
      return Erased("(\(test.text) ? \(yes.text) : \(no.text))", Nodes.conditional(test, yes, no))
    case 9:
      return Erased("children.count", Nodes.keyPath(Nodes.keyPath(sample, \.children), \.count))
    case 10: return trapping(depth - 1)
    case 11:
      let optional = optionalInteger(depth - 1)
      return Erased("(\(optional.text))!", Nodes.forcedUnwrap(optional))
    default:
      let filtered = Nodes.filter(Nodes.keyPath(sample, \.labels)) {
        Nodes.comparison(Nodes.keyPath($0, \.weight), value: 2, .lessThan)
      }
      return Erased("labels.filter { weight < 2 }.count", Nodes.keyPath(filtered, \.count))
    }
  }

  /// A number whose computation traps for some rows.
  mutating func trapping(_ depth: Int) -> Erased<Int> {
    let left = chance(1, in: 2) ? integer(depth) : hardInteger()
    let right = chance(1, in: 2) ? integer(depth) : hardInteger()
    switch Int(random.next() % 6) {
    case 0: return Erased("(\(left.text) + \(right.text))", Nodes.arithmetic(left, right, .add))
    case 1:
      return Erased("(\(left.text) - \(right.text))", Nodes.arithmetic(left, right, .subtract))
    case 2:
      return Erased("(\(left.text) * \(right.text))", Nodes.arithmetic(left, right, .multiply))
    case 3: return Erased("(\(left.text) / \(right.text))", Nodes.quotient(left, right))
    case 4: return Erased("(\(left.text) % \(right.text))", Nodes.remainder(left, right))
    default: return Erased("-(\(left.text))", Nodes.unaryMinus(left))
    }
  }

  private mutating func hardInteger() -> Erased<Int> {
    let optional = Nodes.keyPath(sample, \.optionalNumber)
    let value = pick(Hard.integers)
    return Erased("(optionalNumber ?? \(value))", Nodes.coalesce(optional, value: value))
  }

  mutating func optionalInteger(_ depth: Int) -> Erased<Int?> {
    let parent = Nodes.keyPath(sample, \.parent)
    switch Int(random.next() % 8) {
    case 0: return Erased("nil", Nodes.value(Int?.none))
    case 1:
      let value = pick(Hard.integers)
      return Erased("\(value)?", Nodes.value(Int?.some(value)))
    case 2, 3: return Erased("optionalNumber", Nodes.keyPath(sample, \.optionalNumber))
    case 4: return Erased("parent?.number", Nodes.flatMap(parent) { Nodes.keyPath($0, \.number) })
    case 5:
      return Erased(
        "parent?.optionalNumber", Nodes.flatMap(parent) { Nodes.keyPath($0, \.optionalNumber) })
    case 6:
      return Erased(
        "parent?.parent?.optionalNumber",
        Nodes.flatMap(parent) {
          Nodes.flatMap(Nodes.keyPath($0, \.parent)) { Nodes.keyPath($0, \.optionalNumber) }
        })
    default: return Erased("numbers.max()", Nodes.max(Nodes.keyPath(sample, \.numbers)))
    }
  }

  mutating func text(_ depth: Int) -> Erased<String> {
    switch Int(random.next() % (depth > 0 ? 7 : 3)) {
    case 0: return Erased("text", Nodes.keyPath(sample, \.text))
    case 1: return Erased("city", Nodes.keyPath(Nodes.keyPath(sample, \.place), \.city))
    case 2:
      let value = pick(Hard.texts)
      return Erased(value.debugDescription, Nodes.value(value))
    case 3:
      let text = text(depth - 1)
      return Erased("\(text.text).lowercased()", Nodes.letterCase(text, isUpper: false))
    case 4:
      let text = text(depth - 1)
      return Erased("\(text.text).uppercased()", Nodes.letterCase(text, isUpper: true))
    case 5:
      return Erased("mood.rawValue", Nodes.rawValue(Nodes.keyPath(sample, \.mood), \.rawValue))
    default:
      let (left, right) = (optionalText(depth - 1), text(depth - 1))
      return Erased("(\(left.text) ?? \(right.text))", Nodes.coalesce(left, right))
    }
  }

  mutating func optionalText(_ depth: Int) -> Erased<String?> {
    let parent = Nodes.keyPath(sample, \.parent)
    switch Int(random.next() % 6) {
    case 0: return Erased("nil", Nodes.value(String?.none))
    case 1:
      let value = pick(Hard.texts)
      return Erased("\(value.debugDescription)?", Nodes.value(String?.some(value)))
    case 2: return Erased("optionalText", Nodes.keyPath(sample, \.optionalText))
    case 3: return Erased("parent?.text", Nodes.flatMap(parent) { Nodes.keyPath($0, \.text) })
    case 4:
      return Erased(
        "parent?.optionalText?.uppercased()",
        Nodes.flatMap(parent) {
          Nodes.flatMap(Nodes.keyPath($0, \.optionalText)) { Nodes.letterCase($0, isUpper: true) }
        })
    default: return Erased("tags.min()", Nodes.min(Nodes.keyPath(sample, \.tags)))
    }
  }

  mutating func real(_ depth: Int) -> Erased<Double> {
    switch Int(random.next() % (depth > 0 ? 8 : 3)) {
    case 0: return Erased("real", Nodes.keyPath(sample, \.real))
    case 1: return Erased("height", Nodes.keyPath(Nodes.keyPath(sample, \.place), \.height))
    case 2:
      let value = pick(Hard.reals)
      return Erased("\(value)", Nodes.value(value))
    case 3:
      let value = real(depth - 1)
      return Erased("-\(value.text)", Nodes.unaryMinus(value))
    case 4:
      let value = pick(Hard.reals)
      return Erased(
        "(optionalReal ?? \(value))",
        Nodes.coalesce(Nodes.keyPath(sample, \.optionalReal), value: value))
    case 5:
      let (left, right) = (real(depth - 1), real(depth - 1))
      return Erased("(\(left.text) + \(right.text))", Nodes.arithmetic(left, right, .add))
    case 6:
      let (left, right) = (real(depth - 1), real(depth - 1))
      return Erased("(\(left.text) / \(right.text))", Nodes.quotient(left, right))
    default:
      let (left, right) = (real(depth - 1), real(depth - 1))
      return Erased("(\(left.text) * \(right.text))", Nodes.arithmetic(left, right, .multiply))
    }
  }
}
