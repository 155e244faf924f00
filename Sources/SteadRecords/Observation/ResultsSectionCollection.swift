/// The sections of a result, in the order of their first objects.
public struct ResultsSectionCollection<Element: PersistentModel, SectionName: Hashable>:
  RandomAccessCollection
{
  private let sections: [ResultsSection<Element, SectionName>]
  private let places: [SectionName: Int]

  init(_ models: [Element], by keyPath: KeyPath<Element, SectionName>?) {
    var names: [SectionName] = []
    var groups: [SectionName: [Element]] = [:]
    if let keyPath {
      for model in models {
        let name = model[keyPath: keyPath]
        if groups[name] == nil { names.append(name) }
        groups[name, default: []].append(model)
      }
    }
    sections = names.map { ResultsSection(name: $0, models: groups[$0] ?? []) }
    places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
  }

  /// The names of the sections.
  public var sectionNames: [SectionName] { sections.map(\.name) }
  public var startIndex: Int { 0 }
  public var endIndex: Int { sections.count }
  public subscript(position: Int) -> ResultsSection<Element, SectionName> { sections[position] }

  /// The section with a name.
  public subscript(sectionName name: SectionName) -> ResultsSection<Element, SectionName>? {
    places[name].map { sections[$0] }
  }

  /// The section with a name, under the name that newer SDKs use.
  public subscript(sectionTitle title: SectionName) -> ResultsSection<Element, SectionName>? {
    self[sectionName: title]
  }

  /// The position of the section with a name.
  public func index(ofSectionNamed name: SectionName) -> Int? { places[name] }

  /// Whether a section with a name exists.
  public func contains(sectionName name: SectionName) -> Bool { places[name] != nil }
}
