extension FirstLink {
  /// Keeps a link that an initializer sets; called while the initializer runs.
  ///
  /// - Parameters:
  ///   - state: The owner's state, which lies in the object.
  ///   - type: The class that declares the relationship and the state.
  static func note<Owner: PersistentModel>(
    _ targets: [AnyObject], _ state: inout _ModelState, _ index: Int, _ type: Owner.Type
  ) {
    let targets = targets.compactMap { $0 as? any PersistentModel }
    guard !targets.isEmpty, let offset = stateOffset(in: type) else { return }
    let inverse = LooseLinks.inverse(of: index, in: type)
    let home = targets.lazy.compactMap { $0._$statePointer.pointee.home }.first
    // Without an inverse, only a context needs to know, to insert the owner.
    guard inverse != nil || home != nil else { return }
    let address = withUnsafeMutablePointer(to: &state) { UnsafeMutableRawPointer($0) - offset }
    let link = FirstLink(.fromOpaque(address), index)
    state.keep(link)
    state.extra?.firstOwner = address
    for target in targets {
      // Links that other objects have set to the target come first, as they would with setters.
      target.makeFirstLinks(besidesThoseOf: address)
      target._$statePointer.pointee.keep(link)
      // The target no longer belongs to its previous owner.
      guard let inverse, !inverse.isToMany else { continue }
      if case .toOne(.model(let other)) = target.content(at: inverse.index) {
        other._$statePointer.pointee.keep(link)
      }
    }
    home?.keep(link)
  }

  /// Sets the other sides, as the property's setter would have.
  func make() {
    guard let owner = take() as? any PersistentModel else { return }
    // A context that took the owner in has set them.
    guard owner._$statePointer.pointee.home == nil else { return }
    owner.didInitialize(at: index)
  }

  /// Where a class keeps its state; nil when it is laid out in another way than expected.
  private static func stateOffset(in type: AnyClass) -> Int? {
    offsets.value(for: ObjectIdentifier(type)) { storedPropertyOffsets(in: type, ["_$state"])[0] }
  }

  private static let offsets = TypeCache<Int?>()
}

extension _ModelState {
  fileprivate mutating func keep(_ link: FirstLink) {
    makeExtra().firstLinks.append(link)
    set(_ModelFlags.linked)
  }
}

extension PersistentModel {
  /// Makes the links that wait at the object, in the order in which initializers gave them.
  ///
  /// - Parameter owner: An object whose initializer is running, so that its links keep waiting.
  func makeFirstLinks(besidesThoseOf owner: UnsafeMutableRawPointer? = nil) {
    let state = _$statePointer
    guard state.pointee.has(_ModelFlags.linked) else { return }
    state.pointee.clear(_ModelFlags.linked)
    for link in state.pointee.extra?.firstLinks.takeAll() ?? [] {
      if owner != nil, link.owner == owner { state.pointee.keep(link) } else { link.make() }
    }
  }

  /// Keeps the other sides in step with the first value of a relationship.
  fileprivate func didInitialize(at index: Int) {
    switch content(at: index) {
    case .toOne(.model(let target)): LooseLinks.didReplace(.none, with: target, self, index)
    case .toMany(let targets):
      LooseLinks.didReplace(_Targets(loaded: []), with: targets.loaded ?? [], self, index)
    default: break
    }
  }
}
