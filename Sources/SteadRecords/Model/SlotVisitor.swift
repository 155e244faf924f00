/// An operation on one property's storage.
public protocol _SlotVisitor {
  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int)
}

extension PersistentModel {
  func content(at index: Int) -> _SlotContent {
    var reader = ContentReader()
    _$visit(index, &reader)
    return reader.content
  }

  func setContent(_ content: _SlotContent, at index: Int) {
    var writer = ContentWriter(content: content)
    _$visit(index, &writer)
  }

  /// Changes a to-many relationship's content in place.
  func updateTargets(at index: Int, _ body: (inout _Targets) -> Void) {
    withoutActuallyEscaping(body) { body in
      var updater = TargetsUpdater(body: body)
      _$visit(index, &updater)
    }
  }

  func copySlot(at index: Int) -> Any? {
    var copier = SlotCopier()
    _$visit(index, &copier)
    return copier.copy
  }

  func restoreSlot(_ copy: Any, at index: Int) {
    var restorer = SlotRestorer(copy: copy)
    _$visit(index, &restorer)
  }
}

private struct ContentReader: _SlotVisitor {
  var content = _SlotContent.attribute

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { content = slot._content }
}

private struct ContentWriter: _SlotVisitor {
  let content: _SlotContent

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { slot._content = content }
}

private struct TargetsUpdater: _SlotVisitor {
  let body: (inout _Targets) -> Void

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { slot._updateTargets(body) }
}

/// Keeps a copy of a slot, for undo and for moving values between objects.
private struct SlotCopier: _SlotVisitor {
  var copy: Any?

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { copy = slot }
}

private struct SlotRestorer: _SlotVisitor {
  let copy: Any

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) {
    if let value = copy as? S { slot = value }
  }
}
