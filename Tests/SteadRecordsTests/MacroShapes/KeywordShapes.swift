import SwiftData
import Testing

// Generated members once were `_` or `_$` and a property's name, and `var state` did not compile: the
// proof of its initialization had the name of the object's state.

/// Every keyword, and what members of models and of their expansions are called.
@Model final class KeywordShape {
  var `associatedtype` = 1
  var `class` = 2
  var `deinit` = 3
  var `enum` = 4
  var `extension` = 5
  var `fileprivate` = 6
  var `func` = 7
  var `import` = 8
  var `init` = 9
  var `inout` = 10
  var `internal` = 11
  var `let` = 12
  var `open` = 13
  var `operator` = 14
  var `private` = 15
  var `precedencegroup` = 16
  var `protocol` = 17
  var `public` = 18
  var `rethrows` = 19
  var `static` = 20
  var `struct` = 21
  var `subscript` = 22
  var `typealias` = 23
  var `var` = 24
  var `break` = 25
  var `case` = 26
  var `catch` = 27
  var `continue` = 28
  var `default` = 29
  var `defer` = 30
  var `do` = 31
  var `else` = 32
  var `fallthrough` = 33
  var `for` = 34
  var `guard` = 35
  var `if` = 36
  var `in` = 37
  var `repeat` = 38
  var `return` = 39
  var `throw` = 40
  var `switch` = 41
  var `where` = 42
  var `while` = 43
  var `as` = 45
  var `await` = 46
  var `false` = 47
  var `is` = 48
  var `nil` = 49
  var `self` = 50
  var `super` = 52
  var `throws` = 53
  var `true` = 54
  var `try` = 55
  var `associativity` = 56
  var `async` = 57
  var `convenience` = 58
  var `didSet` = 59
  var `dynamic` = 60
  var `final` = 61
  var `get` = 62
  var `indirect` = 63
  var `infix` = 64
  var `lazy` = 65
  var `left` = 66
  var `mutating` = 67
  var `none` = 68
  var `nonmutating` = 69
  var `optional` = 70
  var `override` = 71
  var `package` = 72
  var `postfix` = 73
  var `precedence` = 74
  var `prefix` = 75
  var `required` = 77
  var `right` = 78
  var `set` = 79
  var `some` = 80
  var `unowned` = 82
  var `weak` = 83
  var `willSet` = 84
  var `actor` = 85
  var `any` = 86
  var `each` = 87
  var `consume` = 88
  var `copy` = 89
  var `borrowing` = 90
  var `consuming` = 91
  var `discard` = 92
  var `nonisolated` = 93
  var `isolated` = 94
  var `sending` = 95
  var `macro` = 96
  var `then` = 97
  var `yield` = 98
  var `unsafe` = 99
  var access = 100
  var withMutation = 101
  var getValue = 102
  var setValue = 103
  var getTransformableValue = 104
  var setTransformableValue = 105
  var createBackingData = 106
  var id = 107
  var state = 108
  var statePointer = 109
  var first = 110
  var supermodel = 111
  var propertyCount = 112
  var propertyMetadata = 113
  var constantOffsets = 114
  var reload = 115
  var bind = 116
  var visit = 117
  var slot = 118
  var proof = 119
  var observing = 120
  var row = 121
  var index = 122
  var visitor = 123
  var old = 124
  var new = 125
  var previous = 126
  var newValue = 127
  var oldValue = 128
  var initialValue = 129
  var isOutermost = 130
  var isWatched = 131
  var read = 132
  var didReplace = 133
  var withUnsafeMutablePointer = 134
  var unique0 = 135
  var index0 = 136
  var _unique0 = 137
  var _index0 = 138
  var _state = 139
  var _first = 140
  var _load = 143
  var _bind = 144
  var _title = 145
  var title = 146
  var value = 147
  var model = 148
  var context = 149
  var graph = 150
  var column = 151

  init() {}
}

/// Columns are the same in upper and lower case, so these have a table of their own.
@Model final class CapitalShape {
  var `Any` = 1
  var `Self` = 2
  var `Type` = 3
  var `Protocol` = 4

  init() {}
}

@Model final class ConstantNameShape {
  let row: Int
  let index: Int
  let visitor: Int
  let slot: Int
  let state: Int

  init(_ value: Int) {
    row = value
    index = value + 1
    visitor = value + 2
    slot = value + 3
    state = value + 4
  }
}

@Model final class ObserverNameShape {
  var old = 1
  var previous = 2
  var slot = 3
  var isOutermost = 4
  var observed = 5 {
    willSet(next) { sums.append(next + old + previous + slot + isOutermost) }
    didSet(last) { sums.append(last + old + previous + slot + isOutermost) }
  }
  @Transient var sums: [Int] = []

  init() {}
}

/// Properties whose names the generated code might use for itself.
@Suite struct KeywordShapes {
  @Test func `properties may have any name`() throws {
    let model = KeywordShape()
    model.state = -1
    model.`default` = -2
    try reread(model) { twin in
      #expect(twin.state == -1 && twin.`default` == -2 && twin.first == model.first)
      #expect(twin.reload == model.reload && twin.bind == model.bind)
    }
    #expect(KeywordShape.schemaMetadata.count == 145)
  }

  @Test func `names of metatypes are names too`() throws {
    let model = CapitalShape()
    model.`Type` = -3
    try reread(model) { twin in
      #expect(twin.`Any` == 1 && twin.`Self` == 2 && twin.`Type` == -3 && twin.`Protocol` == 4)
    }
  }

  @Test func `constants may have the names of parameters`() throws {
    try reread(ConstantNameShape(7)) { twin in
      #expect(twin.row == 7 && twin.index == 8 && twin.visitor == 9)
      #expect(twin.slot == 10 && twin.state == 11)
    }
  }

  @Test func `observers see the properties they mention`() {
    let model = ObserverNameShape()
    model.observed = 100
    #expect(model.sums == [110, 15])
  }
}
