/// What to-many storages share.
@usableFromInline enum ToMany {
  @usableFromInline static func load<Owner: PersistentModel>(
    _ owner: Owner, _ index: Int
  ) -> [AnyObject] {
    owner._$statePointer.pointee.home?.destinations(of: owner, index) ?? []
  }

  /// Arrays of class references have one layout, so neither way needs a look at the elements; and the
  /// engine puts only objects of the destination's class into a relationship.
  @inlinable static func typed<Element: PersistentModel>(_ objects: [AnyObject]) -> [Element] {
    unsafeBitCast(objects, to: [Element].self)
  }

  /// The same where another class of the destination's name may have taken its place: then there are none.
  @usableFromInline static func checked<Element: PersistentModel>(
    _ objects: [AnyObject]
  ) -> [Element] {
    objects.compactMap { $0 as? Element }
  }

  @inlinable static func erased<Element: PersistentModel>(_ models: [Element]) -> [AnyObject] {
    unsafeBitCast(models, to: [AnyObject].self)
  }
}
