import CSteadRuntime

/// A relationship's first value, set by an initializer, whose other side is not set yet.
///
/// While the initializer runs, the object is unfinished, and if it throws there never is one. So the
/// link is kept until one of its objects is used next: read, written, linked, inserted, or asked for
/// through its context. Until then the link keeps its owner, as the other side would.
@usableFromInline final class FirstLink {
  /// The owner, retained; nil once the link was made, or the initializer failed.
  private var retained: Unmanaged<AnyObject>?
  /// The relationship's index in the owner's properties.
  let index: Int

  /// - Parameter owner: An object whose initializer is running.
  init(_ owner: Unmanaged<AnyObject>, _ index: Int) {
    retained = owner.retain()
    self.index = index
  }

  /// Whether the link was made.
  ///
  /// A failed initializer whose link was taken has let another object refer to memory that is about
  /// to be freed.
  private(set) var isTaken = false

  /// Whether nothing is left to do.
  var isMade: Bool { retained == nil }
  var owner: UnsafeMutableRawPointer? { retained?.toOpaque() }

  /// The owner of a link that is about to be made; nil when it is made, or never can be.
  func take() -> AnyObject? {
    // The caller's reference replaces the link's, so that a second look at the same link finds
    // nothing to do.
    defer { retained = nil }
    isTaken = true
    return retained?.takeRetainedValue()
  }

  /// Drops the link if its owner's initializer fails.
  ///
  /// Only then is an object deallocated that a link retains.
  func cancel(ofFailed owner: UnsafeMutableRawPointer) {
    guard self.owner == owner else { return }
    retained?.release()
    retained = nil
  }

  deinit { retained?.release() }
}

extension ModelExtra {
  /// Called when the object is deallocated: drops the links of an initializer that failed.
  func endFirstLinks() {
    // An initializer that throws frees the object directly: the runtime then never marks it as
    // deallocating. An ordinary deallocation does, and cannot have a pending link from here, since
    // such a link retains its owner.
    guard let owner = firstOwner, stead_is_deallocating(owner) == 0 else { return }
    let links = firstLinks.takeAll()
    for link in links { link.cancel(ofFailed: owner) }
    // A programmer error, named in the documentation: the memory is freed even if something still refers to the object.
    if links.contains(where: \.isTaken), swift_retainCount(owner) > 1 {
      fatalError(  // allowed: documented
        "An initializer of a model used an object that it had linked, and then failed. Throw or "
          + "return nil before that.")
    }
  }
}

// MARK: - Pending links

/// The pending links of one object, or of one context, in the order in which initializers made them.
struct FirstLinks {
  /// Those that were made since are still here, until ``append(_:)`` drops them.
  private(set) var links: [FirstLink] = []
  /// The count at which links that were made since are dropped; doubles with the number of those that were not, so that
  /// appending takes amortized constant time.
  private var limit = FirstLinks.smallestLimit
  /// A list with fewer links is never searched for those that were made.
  static let smallestLimit = 32

  var isEmpty: Bool { links.isEmpty }

  mutating func append(_ link: FirstLink) {
    // One link may come here twice: for an object that is twice in the array, or that was the
    // former owner of two targets.
    if links.last === link { return }
    // Links are made from the objects' side, too, and stay in this list as empty shells. Without
    // this, a context that creates a million objects between two saves would keep a million of
    // them.
    if links.count >= limit {
      links.removeAll(where: \.isMade)
      limit = max(Self.smallestLimit, links.count * 2)
    }
    links.append(link)
  }

  /// Empties the list, so that links that are added while these are made wait for the next call.
  mutating func takeAll() -> [FirstLink] {
    defer { self = FirstLinks() }
    return links
  }
}
