import Foundation
import SwiftData

@testable import SteadRecords

extension RandomExpression {
  mutating func condition(_ depth: Int) -> Erased<Bool> {
    guard depth > 0, chance(1, in: 2) else { return test(depth) }
    switch Int(random.next() % 5) {
    case 0, 1:
      let (left, right) = (condition(depth - 1), condition(depth - 1))
      return Erased("(\(left.text) && \(right.text))", Nodes.conjunction(left, right))
    case 2:
      let (left, right) = (condition(depth - 1), condition(depth - 1))
      return Erased("(\(left.text) || \(right.text))", Nodes.disjunction(left, right))
    case 3:
      let inner = condition(depth - 1)
      return Erased("!(\(inner.text))", Nodes.negation(inner))
    default:
      let (test, yes, no) = (condition(depth - 1), condition(depth - 1), condition(depth - 1))
      return Erased("(\(test.text) ? \(yes.text) : \(no.text))", Nodes.conditional(test, yes, no))
    }
  }

  private mutating func test(_ depth: Int) -> Erased<Bool> {
    switch Int(random.next() % 6) {
    case 5: identifiers.isEmpty ? equality(depth) : identifierTest()
    case 0: equality(depth)
    case 1: order(depth)
    case 2: textTest(depth)
    case 3: collectionTest(depth)
    default: optionalTest(depth)
    }
  }

  private mutating func equality(_ depth: Int) -> Erased<Bool> {
    func make<T: Equatable>(_ left: Erased<T>, _ right: Erased<T>, _ isEqual: Bool) -> Erased<Bool>
    {
      isEqual
        ? Erased("\(left.text) == \(right.text)", Nodes.equal(left, right))
        : Erased("\(left.text) != \(right.text)", Nodes.notEqual(left, right))
    }
    let isEqual = chance(1, in: 2)
    switch Int(random.next() % 9) {
    case 0: return make(integer(depth), integer(depth), isEqual)
    case 1: return make(optionalInteger(depth), optionalInteger(depth), isEqual)
    case 2: return make(text(depth), text(depth), isEqual)
    case 3: return make(optionalText(depth), optionalText(depth), isEqual)
    case 4: return make(real(depth), real(depth), isEqual)
    case 5:
      let other = Erased<Double?>("optionalReal", Nodes.keyPath(sample, \.optionalReal))
      let value = Double?.some(pick(Hard.reals))
      return make(
        other, chance(1, in: 2) ? other : Erased("\(value as Any)", Nodes.value(value)), isEqual)
    case 6:
      let value = Optional(pick(Mood.allCases))
      return make(
        Erased("optionalMood", Nodes.keyPath(sample, \.optionalMood)),
        Erased("\(value as Any)", Nodes.value(value)), isEqual)
    case 7:
      let (left, right) = (optionalInteger(depth), trapping(depth))
      return isEqual
        ? Erased("\(left.text) == \(right.text)", Nodes.equal(left, right))
        : Erased("\(left.text) != \(right.text)", Nodes.notEqual(left, right))
    default: return make(condition(depth - 1), condition(depth - 1), isEqual)
    }
  }

  private mutating func order(_ depth: Int) -> Erased<Bool> {
    func make<T: Comparable>(_ left: Erased<T>, _ right: Erased<T>, _ kind: Int) -> Erased<Bool> {
      switch kind {
      case 0: Erased("\(left.text) < \(right.text)", Nodes.comparison(left, right, .lessThan))
      case 1:
        Erased("\(left.text) <= \(right.text)", Nodes.comparison(left, right, .lessThanOrEqual))
      case 2: Erased("\(left.text) > \(right.text)", Nodes.comparison(left, right, .greaterThan))
      default:
        Erased("\(left.text) >= \(right.text)", Nodes.comparison(left, right, .greaterThanOrEqual))
      }
    }
    let kind = Int(random.next() % 4)
    switch Int(random.next() % 6) {
    case 0: return make(integer(depth), integer(depth), kind)
    case 1: return make(text(depth), text(depth), kind)
    case 2: return make(real(depth), real(depth), kind)
    case 3:
      return make(
        Erased("rank", Nodes.keyPath(sample, \.rank)), Erased("middle", Nodes.value(Rank.middle)),
        kind)
    case 4:
      let value = pick([0, 7, UInt64(Int64.max), UInt64(Int64.max) + 1, .max])
      return make(
        Erased("unsigned", Nodes.keyPath(sample, \.unsigned)),
        Erased("\(value)", Nodes.value(value)), kind)
    default:
      let value = pick([Decimal(0), 1.5, -0.25, Decimal(string: "12345678901234567890.5") ?? 0])
      return make(
        Erased("decimal", Nodes.keyPath(sample, \.decimal)),
        Erased("\(value)", Nodes.value(value)), kind)
    }
  }

  private mutating func textTest(_ depth: Int) -> Erased<Bool> {
    let (text, part) = (text(depth), chance(3, in: 4) ? constantText() : text(depth))
    let words = "\(text.text) ? \(part.text)"
    switch Int(random.next() % 6) {
    case 0: return Erased("contains: \(words)", Nodes.contains(text, part))
    case 1: return Erased("starts: \(words)", Nodes.starts(text, part))
    case 2: return Erased("hasPrefix: \(words)", Nodes.stringTest(text, part, .hasPrefix))
    case 3: return Erased("hasSuffix: \(words)", Nodes.stringTest(text, part, .hasSuffix))
    case 4:
      return Erased("standard: \(words)", Nodes.stringTest(text, part, .localizedStandardContains))
    default:
      return Erased(
        "caseless: \(words)", Nodes.stringTest(text, part, .localizedCaseInsensitiveContains))
    }
  }

  private mutating func constantText() -> Erased<String> {
    let value = pick(Hard.texts)
    return Erased(value.debugDescription, Nodes.value(value))
  }

  private mutating func collectionTest(_ depth: Int) -> Erased<Bool> {
    switch Int(random.next() % 9) {
    case 0:
      let values = (0..<Int(random.next() % 4)).map { _ in pick(Hard.texts) }
      let text = text(depth)
      return Erased("\(values).contains(\(text.text))", Nodes.contains(value: values, text))
    case 1:
      let values = (0..<Int(random.next() % 4)).map { _ in
        chance(1, in: 3) ? nil : pick(Hard.integers)
      }
      let number = optionalInteger(depth)
      return Erased("\(values).contains(\(number.text))", Nodes.contains(value: values, number))
    case 2:
      let values = (0..<Int(random.next() % 4)).map { _ in pick(Hard.reals) }
      let real = real(depth)
      return Erased("\(values).contains(\(real.text))", Nodes.contains(value: values, real))
    case 3:
      let text = text(depth)
      return Erased(
        "tags.contains(\(text.text))", Nodes.contains(Nodes.keyPath(sample, \.tags), text))
    case 4:
      let limit = integer(depth)
      return Erased(
        "numbers.contains { $0 > \(limit.text) }",
        Nodes.containsWhere(Nodes.keyPath(sample, \.numbers)) {
          Nodes.comparison($0, limit, .greaterThan)
        })
    case 5:
      let limit = integer(depth)
      return Erased(
        "labels.allSatisfy { weight < \(limit.text) }",
        Nodes.allSatisfy(Nodes.keyPath(sample, \.labels)) {
          Nodes.comparison(Nodes.keyPath($0, \.weight), limit, .lessThan)
        })
    case 6:
      let name = optionalText(depth)
      return Erased(
        "children.contains { optionalText == \(name.text) }",
        Nodes.containsWhere(Nodes.keyPath(sample, \.children)) {
          Nodes.equal(Nodes.keyPath($0, \.optionalText), name)
        })
    case 7:
      let number = integer(depth)
      return Erased("(-2...3).contains(\(number.text))", Nodes.contains(value: -2...3, number))
    default:
      let real = real(depth)
      return Erased("(0.1...).contains(\(real.text))", Nodes.contains(value: 0.1..., real))
    }
  }

  private mutating func identifierTest() -> Erased<Bool> {
    let parent = Nodes.keyPath(sample, \.parent)
    let own = Nodes.keyPath(sample, \.persistentModelID)
    let inherited = Nodes.flatMap(parent) { Nodes.keyPath($0, \.persistentModelID) }
    let one = pick(identifiers)
    let some = (0..<Int(random.next() % 4)).map { _ in pick(identifiers) }
    let optionals = some.map { chance(1, in: 4) ? nil : Optional($0) }
    switch Int(random.next() % 10) {
    case 0: return Erased("id == \(one)", Nodes.equal(own, value: one))
    case 1: return Erased("id != \(one)", Nodes.notEqual(own, value: one))
    case 2: return Erased("\(some).contains(id)", Nodes.contains(value: some, own))
    case 3: return Erased("parent?.id == \(one)", Nodes.equal(inherited, value: Optional(one)))
    case 4: return Erased("parent?.id != \(one)", Nodes.notEqual(inherited, value: Optional(one)))
    case 5:
      return Erased(
        "\(optionals).contains(parent?.id)", Nodes.contains(value: optionals, inherited))
    case 6: return Erased("parent?.id == nil", Nodes.isNil(inherited))
    case 7:
      let chain = Nodes.flatMap(parent) { Nodes.keyPath(Nodes.keyPath($0, \.children), \.isEmpty) }
      return Erased("parent?.children.isEmpty != nil", Nodes.negation(Nodes.isNil(chain)))
    case 8:
      let grand = Nodes.flatMap(parent) { Nodes.keyPath($0, \.parent) }
      return Erased("parent?.parent == nil", Nodes.isNil(grand))
    default:
      return Erased(
        "children.contains { \(some).contains(id) }",
        Nodes.containsWhere(Nodes.keyPath(sample, \.children)) {
          Nodes.contains(value: some, Nodes.keyPath($0, \.persistentModelID))
        })
    }
  }

  private mutating func optionalTest(_ depth: Int) -> Erased<Bool> {
    let parent = Nodes.keyPath(sample, \.parent)
    switch Int(random.next() % 6) {
    case 0: return Erased("flag", Nodes.keyPath(sample, \.flag))
    case 1: return Erased("parent == nil", Nodes.isNil(parent))
    case 2:
      let text = optionalText(depth)
      return Erased("\(text.text) == nil", Nodes.isNil(text))
    case 3:
      let part = constantText()
      let chain = Nodes.flatMap(Nodes.keyPath(sample, \.optionalText)) { Nodes.contains($0, part) }
      let value = pick([true, false])
      return chance(1, in: 2)
        ? Erased(
          "optionalText?.contains(\(part.text)) == \(value)", Nodes.equal(chain, value: value))
        : Erased(
          "optionalText?.contains(\(part.text)) != \(value)", Nodes.notEqual(chain, value: value))
    case 4:
      let value = pick([true, false])
      return Erased(
        "parent?.flag ?? \(value)",
        Nodes.coalesce(Nodes.flatMap(parent) { Nodes.keyPath($0, \.flag) }, value: value))
    default:
      // Says something of the parent that does not depend on it, and is true of nil.
      let other = integer(depth)
      let chain = Nodes.flatMap(parent) {
        Nodes.notEqual(Nodes.keyPath($0, \.optionalNumber), value: 5)
      }
      return Erased(
        "(parent.flatMap { optionalNumber != 5 } ?? false) == (\(other.text) > 0)",
        Nodes.equal(
          Nodes.coalesce(chain, value: false), Nodes.comparison(other, value: 0, .greaterThan)))
    }
  }
}
