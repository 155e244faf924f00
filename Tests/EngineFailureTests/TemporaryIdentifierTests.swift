@Suite("Temporary identifiers in predicates") struct TemporaryIdentifierTests {
  /// A predicate with an identifier that is not a stored one.
  @Test func `a temporary identifier is found among pending objects, and not after the save`()
    throws
  {
    let context = try TestStore(.memory, Rower.self, Boat.self).context()
    let (rower, boat) = (Rower(1), Boat("b"))
    context.insertAll(rower, boat)
    boat.rower = rower
    let id = rower.persistentModelID
    let byIdentifier = FetchDescriptor<Rower>(predicate: #Predicate { $0.persistentModelID == id })
    let objects = [rower]
    let byObject = FetchDescriptor<Rower>(predicate: #Predicate { objects.contains($0) })
    let byReference = FetchDescriptor<Boat>(predicate: #Predicate { $0.rower == rower })
    #expect(try context.fetch(byIdentifier) == [rower] && context.fetch(byObject) == [rower])
    #expect(try context.fetch(byReference) == [boat])
    var stored = byIdentifier
    stored.includePendingChanges = false
    #expect(try context.fetch(stored).isEmpty)
    try context.save()
    #expect(try context.fetch(byIdentifier).isEmpty && context.fetch(byObject).isEmpty)
    #expect(try context.fetch(byReference).isEmpty)
  }
}
