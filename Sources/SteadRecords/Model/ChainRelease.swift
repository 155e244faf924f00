import CSteadRuntime

// Objects may hold each other in a chain of any length. If each were released inside the `deinit` of the one before it,
// a chain of some ten thousand would overflow the stack. So a deallocating object moves the objects that nothing else
// holds to a list of its thread, and the first of them works through it.

/// Called for each property when an object is deallocated; an attribute holds no object.
@inlinable public func _unlink<Slot: _Slot>(_ slot: inout Slot) {}

@inlinable public func _unlink<Model>(_ slot: inout _ToOneSlot<Model>) {
  if case .model = slot.target { unlink(&slot.target) }
}

@inlinable public func _unlink<Model>(_ slot: inout _OptionalToOneSlot<Model>) {
  if case .model = slot.target { unlink(&slot.target) }
}

@inlinable public func _unlink<Model>(_ slot: inout _ToManySlot<Model>) {
  if slot.targets.loaded != nil { unlink(&slot.targets.loaded) }
}

@inlinable public func _unlink<Model>(_ slot: inout _OptionalToManySlot<Model>) {
  if slot.targets.loaded != nil { unlink(&slot.targets.loaded) }
}

@usableFromInline func unlink<Model>(_ target: inout ToOneTarget<Model>) {
  ReleaseList.collect { list in
    guard case .model(var model) = target else { return }
    target = .none
    // If anything else holds the object, too, it is not deallocated now.
    if isKnownUniquelyReferenced(&model) { list.pointee.append(model) }
  }
}

@usableFromInline func unlink(_ objects: inout [AnyObject]?) {
  ReleaseList.collect { list in
    if let loaded = objects.take() { list.pointee.append(contentsOf: loaded) }
  }
}

/// The objects that a thread has yet to release.
private enum ReleaseList {
  /// Hands over the thread's list, and works it off unless that is going on already.
  ///
  /// Anything else that `body` releases is deallocated while the list exists, and so adds to it.
  static func collect(_ body: (UnsafeMutablePointer<[AnyObject]>) -> Void) {
    if let list = stead_pending_releases() {
      body(list.assumingMemoryBound(to: [AnyObject].self))
      return
    }
    var list: [AnyObject] = []
    withUnsafeMutablePointer(to: &list) { list in
      stead_set_pending_releases(list)
      defer { stead_set_pending_releases(nil) }
      body(list)
      // Each may be the last reference to its object, whose deinit adds more.
      while list.pointee.popLast() != nil {}
    }
  }
}
