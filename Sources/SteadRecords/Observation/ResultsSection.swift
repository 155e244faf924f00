/// The objects of one section of a result.
public struct ResultsSection<Element: PersistentModel, SectionName: Hashable>:
  RandomAccessCollection, Identifiable
{
  /// The value that the section's objects share.
  public let name: SectionName
  private let models: [Element]

  init(name: SectionName, models: [Element]) {
    self.name = name
    self.models = models
  }

  public var id: SectionName { name }
  /// The section's name, under the name that newer SDKs use.
  public var title: SectionName { name }
  public var startIndex: Int { 0 }
  public var endIndex: Int { models.count }
  public subscript(position: Int) -> Element { models[position] }
}
